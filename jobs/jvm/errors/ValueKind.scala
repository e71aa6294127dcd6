package sluice

import java.nio.ByteBuffer
import java.util.HexFormat

/** A value's kind by its first bytes: a frame, a compression or an encoding of text, which explains
  * why a decoder stops at them.
  *
  * In Python: jobs/sluice/schemas/value_kinds.py. tests/worlds/named_values.py has the cases of both.
  */
private[sluice] object ValueKind {
  private val Beginnings = Seq(
    "1f8b08" -> "gzip",
    "28b52ffd" -> "zstd",
    "04224d18" -> "an LZ4 frame",
    "ff060000734e61507059" -> "framed Snappy",
    "82534e4150505900" -> "framed Snappy",
    "4f626a01" -> "an Avro container file",
    "efbbbf" -> "a byte order mark",
    "fffe" -> "UTF-16 text",
    "feff" -> "UTF-16 text"
  ).map { case (hex, kind) => (HexFormat.of().parseHex(hex), kind) }

  /** Empty where the bytes begin as none of these. */
  def of(bytes: Array[Byte]): String =
    Beginnings
      .collectFirst { case (first, kind) if bytes.startsWith(first) => kind }
      .orElse(if (isWide(bytes, 0) || isWide(bytes, 1)) Some("UTF-16 text") else None)
      .getOrElse(framed(bytes))

  private def framed(bytes: Array[Byte]): String =
    if (begins(bytes, 5, 0, 0)) s"Confluent's frame with schema id ${ByteBuffer.wrap(bytes).getInt(1)}"
    else if (begins(bytes, 10, 0xc3, 1)) "an Avro single object"
    else if (begins(bytes, 18, 3, 0) || begins(bytes, 18, 3, 5)) "AWS Glue's frame"
    else ""

  private def begins(bytes: Array[Byte], least: Int, first: Int, second: Int): Boolean =
    bytes.length >= least && bytes(0) == first.toByte && bytes(1) == second.toByte

  /** Whether two characters of ASCII begin the bytes, each beside a zero at this place of the two. */
  private def isWide(bytes: Array[Byte], zero: Int): Boolean =
    bytes.length >= 4 && Seq(0, 2).forall { pair =>
      val character = bytes(pair + 1 - zero)
      bytes(pair + zero) == 0 && (character >= 0x20 || Blanks(character))
    }

  private val Blanks = Set[Byte]('\t', '\n', '\r')
}
