package sluice

import java.nio.ByteBuffer
import java.util.{Arrays, UUID}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** A frame: how a record names the schema that it was written with, in Confluent's wire format.
  *
  * Either its bytes begin with a zero and the schema's number (4 bytes, big-endian), or the last of
  * its headers of that name holds the same, or a one and the schema's GUID (16 bytes); then all the
  * bytes are the record's own. The record is a struct of the bytes and the headers.
  */
private[sluice] final class Frame(record: InternalRow, name: UTF8String) {
  import Frame._

  val bytes: Array[Byte] = record.getBinary(0)
  private val header = headerOf(record, name)

  /** What follows the schema's number or GUID, where that stands. */
  val rest: ByteBuffer = ByteBuffer.wrap(if (header == null) bytes else header)

  /** The schema's number or GUID; null where the record names none. */
  val schema: Any = if (header != null && begins(rest, 1, 17)) guid(rest) else number(rest)

  /** The same as text. */
  def key: String = schema match {
    case null => null
    case number: Int => Integer.toUnsignedString(number)
    case guid => guid.toString
  }

  /** Where the record's own bytes begin, once all is read that is before them. */
  def start: Int = if (header == null) rest.position() else 0

  def body: Array[Byte] =
    if (header == null) Arrays.copyOfRange(bytes, start, bytes.length) else bytes

  /** Throws a Misfit where the record names no schema. */
  def requireSchema(): Unit =
    if (schema == null) throw new Misfit(s"$NotFound, found $instead").hinted(kind)

  /** What stands where a schema's number was expected. */
  private def instead: String =
    if (header != null && header.isEmpty) "an empty header"
    else if (header != null) s"a header of 0x${Bytes.hex(header)}"
    else if (bytes.isEmpty) "no bytes"
    else s"0x${Bytes.hex(bytes)}"

  /** What the record's own bytes begin like; empty if it is nothing known. */
  private def kind: String = if (header == null) ValueKind.of(bytes) else ""
}

private[sluice] object Frame {
  private val NotFound = "no schema id: expected the byte 0 and an id, or a header"

  /** What a record has where its schema is the one of this key. */
  def schemaOf(key: String): Any =
    if (key.contains('-')) UUID.fromString(key) else Integer.parseUnsignedInt(key)

  private def headerOf(record: InternalRow, name: UTF8String): Array[Byte] =
    if (record.isNullAt(1)) null
    else {
      val headers = record.getArray(1)
      var place = headers.numElements() - 1
      while (place >= 0 && !isNamed(headers.getStruct(place, 2), name)) place -= 1
      if (place < 0) null else headers.getStruct(place, 2).getBinary(1)
    }

  private def isNamed(header: InternalRow, name: UTF8String): Boolean =
    header != null && name == header.getUTF8String(0)

  private def begins(in: ByteBuffer, first: Byte, length: Int): Boolean =
    in.remaining >= length && in.get(0) == first

  private def guid(in: ByteBuffer): UUID = new UUID(in.position(1).getLong(), in.getLong())

  private def number(in: ByteBuffer): Any =
    if (begins(in, 0, 5)) in.position(1).getInt() else null
}
