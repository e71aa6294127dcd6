package sluice

import com.fasterxml.jackson.core.JsonToken
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.unsafe.types.UTF8String

/** JSON's bytes: one object in strict UTF-8, whose members are the columns.
  *
  * `unit` is what a TIMESTAMP's numbers count: s, ms, us, or empty where it takes none. With `rescue`
  * the members that are no columns are kept at every depth, as the text of an object. `unmatched`
  * says what becomes of an object that has none of the fields, and of which nothing is kept.
  */
case class JsonRecord(
    child: Expression,
    columns: String,
    frames: String,
    unit: String,
    rescue: Boolean,
    unmatched: String
) extends JsonDecoded {
  @transient private lazy val members = new JsonReads.Members(declared, unit, rescue)

  override def prettyName: String = "sluice_json"
  override protected def apart: Boolean = unmatched == JsonUnmatched.Apart

  override protected def readText(bytes: Array[Byte]): InternalRow = {
    val in = JsonText.parser(bytes)
    if (in.nextToken() != JsonToken.START_OBJECT) failed(JsonFlaw.of(bytes))
    else {
      val row = new GenericInternalRow(width)
      val misfit = members.fill(in, row)
      if (in.nextToken() != null) failed(JsonFlaw.of(bytes))
      else if (misfit != null) failed(misfit.told)
      else if (unmatched == JsonUnmatched.Lands || members.matched || members.rest != null) {
        if (members.rest != null) row.update(declared.length, UTF8String.fromString(members.rest))
        row
      }
      else lacking(row, JsonUnmatched.told(declared, bytes))
    }
  }

  override protected def withNewChildInternal(child: Expression): JsonRecord = copy(child = child)
}
