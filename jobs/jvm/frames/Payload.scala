package sluice

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BinaryType, DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.util.control.NonFatal

/** A record's payload: its bytes without the compression, which is outermost, and then without the
  * frame. Either may be empty: there is none. `error` says why there is no payload.
  *
  * `known` is JSON (Wraps).
  */
case class Payload(child: Expression, compression: String, frame: String, known: String)
    extends UnaryExpression
    with CodegenFallback {
  @transient private lazy val unpack: Array[Byte] => Array[Byte] =
    if (compression.isEmpty) identity else Compression.of(compression)
  @transient private lazy val unwrap: Wraps.Payload =
    if (frame.isEmpty) _.getBinary(0) else Wraps.of(frame, new ObjectMapper().readTree(known))

  override def prettyName: String = "sluice_payload"
  override def nullable: Boolean = true
  override lazy val dataType: DataType =
    new StructType().add("payload", BinaryType).add("error", StringType)

  // A plan is logged as text, and a schema is long.
  override protected def stringArgs: Iterator[Any] = Iterator(child, compression, frame)

  /** Never an exception, whatever the bytes are. */
  override protected def nullSafeEval(found: Any): Any = {
    val record = found.asInstanceOf[InternalRow]
    if (record.isNullAt(0)) null
    else
      try {
        val headers = if (record.isNullAt(1)) null else record.getArray(1)
        val opened = new GenericInternalRow(Array[Any](unpack(record.getBinary(0)), headers))
        new GenericInternalRow(Array[Any](unwrap(opened), null))
      } catch {
        case NonFatal(problem) =>
          val told = UTF8String.fromString(Decoded.why(problem))
          new GenericInternalRow(Array[Any](null, told))
      }
  }

  override protected def withNewChildInternal(child: Expression): Payload = copy(child = child)
}
