package sluice

import com.fasterxml.jackson.databind.JsonNode
import java.nio.ByteBuffer

/** Indexes: which of a schema's messages a record is, in zigzag encoding.
  *
  * How many follow, then the place within the file, then within that message, and so on. A single
  * zero stands for the first message of the file. `messages` has the full names by indexes (`0.1`).
  */
private[sluice] final class ProtobufIndexes(key: String, messages: JsonNode) {
  import ProtobufIndexes.Longest

  /** Throws a Misfit where another message than the expected one stands there. */
  def require(expected: String, in: ByteBuffer): Unit = {
    val place = indexes(in)
    val written = messages.path(place).asText("none")
    if (written != expected)
      throw new Misfit(
        s"schema $key: expected the message $expected, found $written" +
          s" at the message index ${Misfit.shortened(place)}"
      )
  }

  /** The name of the message that stands there; null where the file has none. */
  def nameAt(in: ByteBuffer): String = messages.path(indexes(in)).textValue

  private def indexes(in: ByteBuffer): String = {
    val count = index(in)
    if (count == 0) return "0"
    // Each takes a byte at least.
    if (count < 0 || count > in.remaining)
      throw new Misfit(
        s"schema $key: expected $count message indexes, found ${in.remaining} bytes"
      )
    Seq.fill(count.toInt)(index(in)).mkString(".")
  }

  private def index(in: ByteBuffer): Long = {
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

private object ProtobufIndexes {
  // Ten bytes hold 64 bits.
  private val Longest = 10
}
