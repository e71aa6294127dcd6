package sluice

import com.fasterxml.jackson.databind.JsonNode
import java.nio.ByteBuffer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** The full name of a record, by the schema that it names; nothing of it is decoded. Null where that
  * does not say it: no schema, an unknown one, or no such message in it.
  *
  * Of a schema of one record, `frames` knows its `name`; of one of several, its `messages` by their
  * indexes (ProtobufIndexes).
  */
case class RecordName(child: Expression, frames: String)
    extends UnaryExpression
    with CodegenFallback {
  @transient private lazy val framed = new Frames(frames, RecordName.namesOf)

  override def dataType: DataType = StringType
  override def nullable: Boolean = true
  override def prettyName: String = "sluice_record_name"

  override protected def nullSafeEval(found: Any): Any = {
    val record = found.asInstanceOf[InternalRow]
    if (record.isNullAt(0)) null
    else
      try {
        val (frame, nameOf) = framed.of(record)
        UTF8String.fromString(nameOf(frame.rest))
      } catch { case _: Misfit => null }
  }

  override protected def withNewChildInternal(child: Expression): RecordName = copy(child = child)
}

private object RecordName {
  private def namesOf(key: String, known: JsonNode): ByteBuffer => String =
    if (known.has("name")) { val name = known.get("name").textValue; _ => name }
    else new ProtobufIndexes(key, known.get("messages")).nameAt(_)
}
