package sluice

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.VariantType
import org.apache.spark.unsafe.types.UTF8String

/** A JSON value: a record as one column, its JSON text or a VARIANT, whatever the value is: an array, a
  * text, null.
  *
  * As strict as JsonRecord. There are no members, so that `rescue` keeps nothing.
  */
case class JsonValue(
    child: Expression,
    columns: String,
    frames: String,
    at: String,
    rescue: Boolean
) extends JsonDecoded {
  override def prettyName: String = "sluice_json_value"

  override protected def flaw(bytes: Array[Byte], why: String): String =
    if (why.isEmpty) JsonValue.NotOne else why.replace("JSON object", "JSON value")

  override protected def readText(bytes: Array[Byte]): InternalRow = {
    val in = JsonText.parser(bytes)
    if (in.nextToken() == null) throw new Misfit(JsonValue.NotOne)
    val found = declared(0).dataType match {
      case VariantType => JsonVariant.of(in)
      case _ => UTF8String.fromString(JsonText.of(in))
    }
    if (in.nextToken() != null) throw new Misfit(JsonValue.NotOne)
    found match {
      case misfit: Misfit => throw misfit
      case value =>
        val row = new GenericInternalRow(width)
        row.update(0, value)
        row
    }
  }

  override protected def withNewChildInternal(child: Expression): JsonValue = copy(child = child)
}

object JsonValue {
  private val NotOne = "not one JSON value"
}
