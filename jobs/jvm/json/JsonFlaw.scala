package sluice

import java.nio.charset.CodingErrorAction
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.{ByteBuffer, CharBuffer}

/** A flaw: what keeps bytes from being one JSON object, and the byte at which it stands, from 0.
  *
  * Only asked about records that are not decoded. It names what it finds, and repeats no text of the
  * record. In Python: jobs/sluice/schemas/json_flaws.py.
  */
private[sluice] object JsonFlaw {
  private val NotOne = "not one JSON object"
  private val Within = " that holds an object: `at: $` in `format` reads it"
  private val NotStrict = "not strict UTF-8"

  /** Why bytes that are text in strict UTF-8 are not one JSON object. */
  def of(bytes: Array[Byte]): String = ValueKind.of(bytes) match {
    case "" =>
      try {
        new JsonScan(bytes).document()
        NotOne
      } catch {
        case flaw: Misfit =>
          s"$NotOne: ${flaw.text}" + (if (JsonPlace.holdsObject(bytes)) Within else "")
      }
    case kind => s"$NotOne: found $kind"
  }

  /** The same where `why` is empty; else that. */
  def told(bytes: Array[Byte], why: String): String = if (why.isEmpty) of(bytes) else why

  def ofEncoding(bytes: Array[Byte]): String = ValueKind.of(bytes) match {
    case "" =>
      val at = firstMalformed(bytes)
      val seemsLatin = bytes.take(at).forall(_ >= 0) && bytes.forall(isLatin)
      val guess = if (seemsLatin) "; ISO-8859-1 text?" else ""
      f"$NotStrict: byte 0x${bytes(at)}%02x at $at$guess"
    case kind => s"$NotStrict: found $kind"
  }

  /** Where the first bytes stand that UTF-8 has no character for. */
  private def firstMalformed(bytes: Array[Byte]): Int = {
    val decoder = UTF_8
      .newDecoder()
      .onMalformedInput(CodingErrorAction.REPORT)
      .onUnmappableCharacter(CodingErrorAction.REPORT)
    val in = ByteBuffer.wrap(bytes)
    val out = CharBuffer.allocate(8192)
    while (decoder.decode(in, out, true).isOverflow) out.clear()
    math.min(in.position(), bytes.length - 1)
  }

  private def isLatin(byte: Byte): Boolean = {
    val unit = byte & 0xff
    unit >= 0xa0 || (unit >= 0x20 && unit < 0x7f) || unit == '\t' || unit == '\n' || unit == '\r'
  }
}
