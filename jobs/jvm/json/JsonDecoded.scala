package sluice

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** JSON's bytes in strict UTF-8, with or without a frame. Of a writer's schema only its kind matters. */
abstract class JsonDecoded extends Decoded {
  def frames: String

  @transient private lazy val framed =
    if (frames.isEmpty) null else new Frames(frames, (_, _) => ())

  /** Of bytes that may be JSON; the parser's exceptions say that they are not. */
  protected def readText(bytes: Array[Byte]): InternalRow

  /** Why the bytes are not what is expected; `flaw` is empty where the parser does not take them. */
  protected def flawed(bytes: Array[Byte], flaw: String): InternalRow =
    failed(if (flaw.isEmpty) JsonFlaw.of(bytes) else flaw)

  /** Of an object without any of the fields: its row, beside what it lacks, or none. */
  protected def lacking(row: InternalRow, told: String): InternalRow =
    if (apart) {
      row.update(width - 2, UTF8String.fromString(told))
      row
    }
    else failed(told)

  override protected def read(record: InternalRow): InternalRow = {
    val bytes = if (framed == null) record.getBinary(0) else framed.of(record)._1.body
    JsonText.whyUnclean(bytes) match {
      case "" =>
        try readText(bytes)
        catch { case _: JsonProcessingException => flawed(bytes, "") }
      case why => flawed(bytes, why)
    }
  }
}
