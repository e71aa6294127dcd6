package sluice

import com.google.protobuf.{DynamicMessage, InvalidProtocolBufferException, UnknownFieldSet}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.{DataType, StringType, StructType}

/** Protobuf's bytes: one message, whose fields are the columns.
  *
  * The child is a struct of the bytes, and of the header that names their schema, null without one.
  * `files` is the message's descriptor set in base64. With `writers` (ProtobufFrame) a record has a
  * frame; where that names none of them, `_error` is empty.
  */
case class ProtobufRecord(
    child: Expression,
    columns: String,
    files: String,
    message: String,
    writers: String
) extends Decoded[InternalRow] {
  @transient private lazy val frame =
    if (writers.isEmpty) null else new ProtobufFrame(message, writers)
  @transient private lazy val described = ProtobufFiles.message(files, message)
  @transient private lazy val parser =
    DynamicMessage.getDefaultInstance(described).getParserForType
  @transient private lazy val declared = DataType.fromJson(columns).asInstanceOf[StructType]
  @transient private lazy val fields = new ProtobufReads.Fields(described, declared)

  override lazy val dataType: StructType = {
    // What cannot be read fails here, where the query is made; so does an older protobuf-java.
    fields
    UnknownFieldSet.getDefaultInstance.isEmpty
    declared.add("_error", StringType)
  }

  override def prettyName: String = "sluice_protobuf"

  override protected def read(given: InternalRow): GenericInternalRow = {
    val bytes = given.getBinary(0)
    val header = if (given.isNullAt(1)) null else given.getBinary(1)
    val start = if (frame == null) 0 else frame.end(bytes, header)
    val row = new GenericInternalRow(width)
    fields.fill(parsed(bytes, start), row)
    row
  }

  /** The parser also lists the required fields that are missing, but not where in a list or map. */
  private def parsed(bytes: Array[Byte], start: Int): DynamicMessage =
    try {
      val found = parser.parsePartialFrom(bytes, start, bytes.length - start)
      ProtobufNumbers.check(bytes, start, described)
      found
    } catch {
      case problem: InvalidProtocolBufferException =>
        // What it goes on with is advice for who has written the parser's caller.
        throw new Misfit(s"not one $message message: ${problem.getMessage.takeWhile(_ != '.')}")
    }

  override protected def withNewChildInternal(child: Expression): ProtobufRecord =
    copy(child = child)
}
