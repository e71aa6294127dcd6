package sluice

import com.google.protobuf.{CodedInputStream, DynamicMessage, InvalidProtocolBufferException, UnknownFieldSet}
import java.io.IOException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}

/** Protobuf's bytes: one message, whose fields are the columns.
  *
  * `files` is the message's descriptor set in base64. Of a writer's schema its messages matter
  * (ProtobufIndexes).
  */
case class ProtobufRecord(
    child: Expression,
    columns: String,
    frames: String,
    files: String,
    message: String
) extends Decoded {
  @transient private lazy val framed =
    if (frames.isEmpty) null else new Frames(frames, new ProtobufIndexes(_, _))
  @transient private lazy val described = ProtobufFiles.message(files, message)
  @transient private lazy val parser =
    DynamicMessage.getDefaultInstance(described).getParserForType
  @transient private lazy val fields = new ProtobufReads.Fields(described, declared)
  @transient private lazy val isEvent = Changes.areParts(declared)

  override def rescue: Boolean = false

  override protected def prepare(): Unit = {
    fields
    // An older protobuf-java does not have it.
    UnknownFieldSet.getDefaultInstance.isEmpty
  }

  override def prettyName: String = "sluice_protobuf"

  override protected def read(record: InternalRow): InternalRow = {
    val row = new GenericInternalRow(width)
    val (bytes, start) = (record.getBinary(0), startOf(record))
    val message =
      try parsed(bytes, start)
      catch {
        case flaw: Misfit => throw flaw.hinted(if (start > 0) "" else ProtobufRecord.kindOf(bytes))
      }
    fields.fill(message, row)
    if (isEvent) Changes.settle(row, bare = false)
    row
  }

  private def startOf(record: InternalRow): Int =
    if (framed == null) 0
    else {
      val (frame, written) = framed.of(record)
      written.require(message, frame.rest)
      frame.start
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

private object ProtobufRecord {
  def kindOf(bytes: Array[Byte]): String = ValueKind.of(bytes) match {
    case "" if isDelimited(CodedInputStream.newInstance(bytes)) => "messages, each after its length"
    case kind => kind
  }

  /** Whether lengths, each with so many bytes behind it, are all that is there. */
  private def isDelimited(in: CodedInputStream): Boolean =
    try {
      var fits = !in.isAtEnd
      while (fits && !in.isAtEnd) {
        val length = in.readRawVarint32()
        fits = length > 0
        in.skipRawBytes(math.max(0, length))
      }
      fits
    } catch { case _: IOException => false }
}
