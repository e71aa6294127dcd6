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
    "789c" -> "zlib",
    "78da" -> "zlib",
    "28b52ffd" -> "zstd",
    "04224d18" -> "an LZ4 frame",
    "ff060000734e61507059" -> "framed Snappy",
    "82534e4150505900" -> "framed Snappy",
    "4f626a01" -> "an Avro container file",
    "efbbbf" -> "a byte order mark"
  ).map { case (hex, kind) => (HexFormat.of().parseHex(hex), kind) }

  /** Empty where the bytes begin as none of these. */
  def of(bytes: Array[Byte]): String =
    Beginnings
      .collectFirst { case (first, kind) if bytes.startsWith(first) => kind }
      .orElse(if (isWide(bytes)) Some("UTF-16 text") else None)
      .getOrElse(framed(bytes))

  private def framed(bytes: Array[Byte]): String =
    // Registries number from 1 on.
    if (begins(bytes, 5, 0, 0) && ByteBuffer.wrap(bytes).getInt(1) > 0)
      s"Confluent's frame with schema id ${ByteBuffer.wrap(bytes).getInt(1)}"
    else if (begins(bytes, 10, 0xc3, 1)) "an Avro single object"
    else if (begins(bytes, 18, 3, 0) || begins(bytes, 18, 3, 5)) "AWS Glue's frame"
    else ""

  private def begins(bytes: Array[Byte], least: Int, first: Int, second: Int): Boolean =
    bytes.length >= least && bytes(0) == first.toByte && bytes(1) == second.toByte

  /** Whether they begin with UTF-16's mark and a character of ASCII, or with four of these. */
  private def isWide(bytes: Array[Byte]): Boolean = {
    val marked = Marks.exists(bytes.startsWith(_))
    val first = if (marked) bytes.slice(2, 4) else bytes.take(8)
    first.length == (if (marked) 2 else 8) && Seq(0, 1).exists { zero =>
      first.indices.forall(at => if (at % 2 == zero) first(at) == 0 else isPrinted(first(at)))
    }
  }

  private def isPrinted(character: Byte): Boolean = character >= 0x20 || Blanks(character)

  private val Blanks = Set[Byte]('\t', '\n', '\r')
  private val Marks = Seq("fffe", "feff").map(HexFormat.of().parseHex(_))
}
