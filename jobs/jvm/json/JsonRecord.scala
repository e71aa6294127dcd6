package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import java.util.Map
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.ArrayType

/** JSON's bytes: one object in strict UTF-8, whose members are the columns. Where the only one is an
  * array `value`, a record may also be the array itself.
  *
  * `unit` is what a TIMESTAMP's numbers count: s, ms, us, or empty where it takes none. With `rescue`
  * the members that are no columns are kept at every depth, as the text of an object.
  */
case class JsonRecord(
    child: Expression,
    columns: String,
    frames: String,
    at: String,
    unit: String,
    rescue: Boolean,
    unmatched: String
) extends JsonObjects {
  @transient private lazy val members = new JsonReads.Members(declared, unit, rescue)
  @transient private lazy val elements = declared.fields match {
    case Array(each) if each.name == JsonRecord.Whole && each.dataType.isInstanceOf[ArrayType] =>
      JsonReads.of(each.dataType, JsonReads.unitOf(each, unit), rescue)
    case _ => null
  }

  override def prettyName: String = "sluice_json"

  override protected def readText(bytes: Array[Byte]): InternalRow = {
    val in = JsonText.parser(bytes)
    in.nextToken() match {
      case JsonToken.START_OBJECT => readObject(bytes, in, members)
      case JsonToken.START_ARRAY if elements != null => readWhole(bytes, in)
      case _ => throw new Misfit(JsonFlaw.of(bytes))
    }
  }

  private def readWhole(bytes: Array[Byte], in: JsonParser): InternalRow = {
    val row = new GenericInternalRow(width)
    val found = elements(in)
    if (in.nextToken() != null) throw new Misfit(JsonFlaw.of(bytes))
    found match {
      case misfit: Misfit => throw misfit.within(JsonRecord.Whole)
      case array => row.update(0, array)
    }
    val rest = elements.rest
    keep(if (rest == null) null else JsonText.ofMembers(Map.of(JsonRecord.Whole, rest)), row)
    row
  }

  override protected def withNewChildInternal(child: Expression): JsonRecord = copy(child = child)
}

object JsonRecord {
  private val Whole = "value"
}
