package sluice

import com.fasterxml.jackson.core.JsonParser
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.unsafe.types.UTF8String

/** JSON's bytes with one object whose members are the columns. `unmatched` says what becomes of an
  * object that has none of the fields, and of which nothing is kept.
  */
abstract class JsonObjects extends JsonDecoded {
  def unmatched: String

  override protected def apart: Boolean = unmatched == JsonUnmatched.Apart
  protected def lands: Boolean = unmatched == JsonUnmatched.Lands

  /** The object that begins at the parser's token, and is all of the bytes. */
  private[sluice] def readObject(
      bytes: Array[Byte],
      in: JsonParser,
      members: JsonReads.Members
  ): InternalRow = {
    val row = new GenericInternalRow(width)
    val misfit = members.fill(in, row)
    if (in.nextToken() != null) throw new Misfit(JsonFlaw.of(bytes))
    if (misfit != null) throw misfit
    keep(members.rest, row)
    if (lands || members.matched || members.rest != null) row
    else lacking(row, JsonUnmatched.hinted(declared, bytes))
  }

  /** What is left of a record, where that is asked for. */
  protected def keep(rest: String, row: InternalRow): Unit =
    if (rest != null) row.update(declared.length, UTF8String.fromString(rest))
}
