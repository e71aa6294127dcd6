package sluice

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.unsafe.types.UTF8String

/** A JSON value: a record as one column, its JSON text, whatever the value is: an array, a text, null.
  *
  * As strict as JsonRecord. There are no members, so that `rescue` keeps nothing.
  */
case class JsonValue(child: Expression, columns: String, frames: String, rescue: Boolean)
    extends Decoded {
  @transient private lazy val framed =
    if (frames.isEmpty) null else new Frames(frames, (_, _) => ())

  override def prettyName: String = "sluice_json_value"

  override protected def read(record: InternalRow): InternalRow = {
    val bytes = if (framed == null) record.getBinary(0) else framed.of(record)._1.body
    JsonText.whyUnclean(bytes) match {
      case "" => readText(bytes)
      case why => failed(why.replace("JSON object", "JSON value"))
    }
  }

  private def readText(bytes: Array[Byte]): InternalRow =
    try {
      val in = JsonText.parser(bytes)
      if (in.nextToken() == null) throw new Misfit(JsonValue.NotOne)
      val text = JsonText.of(in)
      if (in.nextToken() != null) throw new Misfit(JsonValue.NotOne)
      val row = new GenericInternalRow(width)
      row.update(0, UTF8String.fromString(text))
      row
    } catch {
      case _: JsonProcessingException => failed(JsonValue.NotOne)
    }

  override protected def withNewChildInternal(child: Expression): JsonValue = copy(child = child)
}

object JsonValue {
  private val NotOne = "not one JSON value"
}
