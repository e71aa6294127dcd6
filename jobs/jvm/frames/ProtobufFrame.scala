package sluice

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import java.nio.ByteBuffer
import java.util.{HashMap, UUID}

/** Frames: what is before a message or in a header of its record, in Confluent's wire format.
  *
  * A zero and the schema's number (4 bytes), or in a header a one and its GUID (16 bytes); then the
  * message indexes, which say which of the schema's messages it is, in zigzag encoding: how many
  * follow, then the place within the file, then within that message, and so on. A single zero stands
  * for the first message of the file.
  *
  * `writers` is JSON, by the schemas' keys: the full names of the messages by their indexes (`0.1`),
  * or why no record of the schema can be decoded.
  */
private[sluice] final class ProtobufFrame(message: String, writers: String) {
  import ProtobufFrame._

  private val known = new HashMap[Any, Writer]()
  new ObjectMapper().readTree(writers).fields.forEachRemaining { each =>
    known.put(named(each.getKey), Writer(each.getKey, each.getValue))
  }

  /** Where in the bytes the message begins. A Misfit says why it is none to read. */
  def end(bytes: Array[Byte], header: Array[Byte]): Int = {
    val in = ByteBuffer.wrap(if (header == null) bytes else header)
    val writer = known.get(if (header == null) number(in) else numberOrGuid(in))
    if (writer == null) throw new Misfit("")
    if (writer.messages.isTextual) throw new Misfit(writer.messages.textValue)
    val place = indexes(in, writer.key)
    val written = writer.messages.path(place).asText("none")
    if (written != message)
      throw new Misfit(
        s"schema ${writer.key}: expected the message $message, found $written" +
          s" at the message index ${Misfit.shortened(place)}"
      )
    if (header == null) in.position() else 0
  }
}

private object ProtobufFrame {
  // Ten bytes hold 64 bits.
  private val Longest = 10

  private case class Writer(key: String, messages: JsonNode)

  private def named(key: String): Any =
    if (key.contains('-')) UUID.fromString(key) else Integer.parseUnsignedInt(key)

  /** Null where none is there. */
  private def number(in: ByteBuffer): Any =
    if (in.remaining >= 5 && in.get(0) == 0) in.position(1).getInt() else null

  private def numberOrGuid(in: ByteBuffer): Any =
    if (in.remaining >= 17 && in.get(0) == 1) new UUID(in.position(1).getLong(), in.getLong())
    else number(in)

  private def indexes(in: ByteBuffer, key: String): String = {
    val count = index(in, key)
    if (count == 0) return "0"
    // Each takes a byte at least.
    if (count < 0 || count > in.remaining)
      throw new Misfit(
        s"schema $key: expected $count message indexes, found ${in.remaining} bytes"
      )
    Seq.fill(count.toInt)(index(in, key)).mkString(".")
  }

  private def index(in: ByteBuffer, key: String): Long = {
    var value = 0L
    var shift = 0
    while (in.hasRemaining && shift < 7 * Longest) {
      val byte = in.get()
      value |= (byte & 0x7fL) << shift
      if (byte >= 0) return (value >>> 1) ^ -(value & 1)
      shift += 7
    }
    throw new Misfit(s"schema $key: expected a message index, found a number without its end")
  }
}
