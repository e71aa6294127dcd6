package sluice

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** JSON's bytes in strict UTF-8, with or without a frame. Of a writer's schema only its kind matters. */
abstract class JsonDecoded extends Decoded {
  def frames: String

  /** Where the record is in the JSON, as JsonPlace has it; empty where it is all of it. */
  def at: String

  @transient private lazy val framed =
    if (frames.isEmpty) null else new Frames(frames, (_, _) => ())
  @transient private lazy val place = if (at.isEmpty) null else new JsonPlace(at)

  /** Of bytes that may be JSON; the parser's exceptions say that they are not. */
  protected def readText(bytes: Array[Byte]): InternalRow

  /** Why the bytes are not what is expected; `why` is empty where the parser does not take them. */
  protected def flaw(bytes: Array[Byte], why: String): String = JsonFlaw.told(bytes, why)

  /** Of an object without any of the fields: its row, beside what it lacks, or none. */
  protected def lacking(row: InternalRow, told: String): InternalRow =
    if (apart) {
      val whole = if (place == null) told else place.told(told)
      row.update(width - 2, UTF8String.fromString(whole))
      row
    }
    else throw new Misfit(told)

  override protected def read(record: InternalRow): InternalRow = {
    val bytes = if (framed == null) record.getBinary(0) else framed.of(record)._1.body
    if (place == null) readStrictly(bytes) else place(bytes, readStrictly)
  }

  private def readStrictly(bytes: Array[Byte]): InternalRow =
    JsonText.strictly(bytes, flaw)(readText)
}
