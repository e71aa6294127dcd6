package sluice

import com.fasterxml.jackson.core.{JsonFactory, JsonFactoryBuilder, JsonGenerator, JsonParser}
import com.fasterxml.jackson.core.{JsonProcessingException, JsonToken, StreamReadConstraints}
import com.fasterxml.jackson.core.io.JsonStringEncoder
import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, Map}
import java.util.concurrent.atomic.AtomicLong
import org.apache.spark.unsafe.types.UTF8String

/** Text: JSON as it stands in a record, strictly read, and written again as it was written. */
private[sluice] object JsonText {
  private val Levels = 1000
  private val Shown = 100
  private val Blanks = " \t\n\r"

  private val Remembered = 16L << 20
  private val left = new AtomicLong(Remembered)

  @volatile private var factory = new JsonFactoryBuilder()
    .streamReadConstraints(
      StreamReadConstraints
        .builder()
        .maxNestingDepth(Levels)
        .maxNumberLength(Int.MaxValue)
        .maxStringLength(Int.MaxValue)
        .maxNameLength(Int.MaxValue)
        .build()
    )
    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
    .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
    .build()

  /** A factory keeps 6,000 of the names that it meets, of any length, for the records to come: long
    * ones would fill the memory. So another one begins anew once this one has read so many bytes.
    */
  def parser(bytes: Array[Byte]): JsonParser = {
    if (left.addAndGet(-bytes.length.toLong) < 0) {
      factory = factory.copy()
      left.set(Remembered)
    }
    factory.createParser(bytes)
  }

  /** Why bytes are no text that JSON may be in; empty if they are. Jackson alone would pass over a
    * byte order mark, take a zero byte for a sign of UTF-16, and read half of a surrogate pair.
    */
  private def whyUnclean(bytes: Array[Byte]): String =
    if (isClean(bytes)) ""
    else if (!isUtf8(bytes)) JsonFlaw.ofEncoding(bytes)
    else if (hasLoneSurrogate(bytes)) "a lone surrogate escape"
    else JsonFlaw.of(bytes)

  /** Whether bytes are text that JSON may be in. (What tells why they are not may ask this.) */
  def isClean(bytes: Array[Byte]): Boolean =
    isUtf8(bytes) && !hasLoneSurrogate(bytes) && !seemsEncoded(bytes)

  private def isUtf8(bytes: Array[Byte]): Boolean = UTF8String.fromBytes(bytes).isValid

  /** What `read` makes of text that JSON may be in. A Misfit has what `told` says of other bytes, and
    * of why they are no such text; that is empty where the parser does not take it.
    */
  def strictly[Made](bytes: Array[Byte], told: (Array[Byte], String) => String)(
      read: Array[Byte] => Made
  ): Made = whyUnclean(bytes) match {
    case "" =>
      try read(bytes)
      catch { case _: JsonProcessingException => throw new Misfit(told(bytes, "")) }
    case why => throw new Misfit(told(bytes, why))
  }

  /** Whether that is the first character beside white space. */
  def beginsWith(character: Char, bytes: Array[Byte]): Boolean = {
    var at = 0
    while (at < bytes.length && Blanks.indexOf(bytes(at)) >= 0) at += 1
    at < bytes.length && bytes(at) == character
  }

  private def seemsEncoded(bytes: Array[Byte]): Boolean = {
    val first = math.min(4, bytes.length)
    var at = 0
    while (at < first && bytes(at) != 0) at += 1
    at < first || (first > 0 && bytes(0) == 0xef.toByte)
  }

  private def hasLoneSurrogate(bytes: Array[Byte]): Boolean = {
    var at = 0
    var lone = false
    while (at < bytes.length && !lone) {
      if (bytes(at) != '\\') at += 1
      else {
        val unit = escapedUnit(bytes, at)
        if (unit < 0 || !Character.isSurrogate(unit.toChar)) at += 2
        else {
          val next = escapedUnit(bytes, at + 6)
          lone = !Character.isHighSurrogate(unit.toChar) || next < 0 ||
            !Character.isLowSurrogate(next.toChar)
          at += 12
        }
      }
    }
    lone
  }

  /** The UTF-16 unit that is escaped at a place as \\uXXXX; -1 where there is none. */
  private def escapedUnit(bytes: Array[Byte], at: Int): Int =
    if (at + 6 > bytes.length || bytes(at) != '\\' || bytes(at + 1) != 'u') -1
    else {
      val digits = (2 until 6).map(each => Character.digit(bytes(at + each), 16))
      if (digits.exists(_ < 0)) -1 else digits.reduce(_ * 16 + _)
    }

  /** The bytes of the value that begins at the parser's token, which goes on to its end. */
  def part(in: JsonParser, bytes: Array[Byte]): Array[Byte] = {
    val start = in.currentTokenLocation.getByteOffset.toInt
    in.skipChildren()
    in.finishToken()
    Arrays.copyOfRange(bytes, start, in.currentLocation.getByteOffset.toInt)
  }

  /** The value that begins at the parser's token, without white space, numbers as written. */
  def of(in: JsonParser): String = in.currentToken() match {
    case JsonToken.VALUE_STRING => quoted(in.getText)
    case JsonToken.START_OBJECT | JsonToken.START_ARRAY => ofContainer(in)
    case _ => in.getText
  }

  def quoted(text: String): String =
    new java.lang.StringBuilder(text.length + 2)
      .append('"')
      .append(JsonStringEncoder.getInstance.quoteAsString(text))
      .append('"')
      .toString

  /** An object with these members, whose values are JSON texts. */
  def ofMembers(members: Map[String, String]): String = {
    val text = new java.lang.StringBuilder("{")
    members.forEach { (name, value) =>
      if (text.length > 1) text.append(',')
      text.append(quoted(name)).append(':').append(value)
    }
    text.append('}').toString
  }

  /** A string that is cut keeps its closing quote. */
  def shortened(json: String): String =
    if (json.codePointCount(0, json.length) <= Shown + 2) json
    else {
      val cut = json.substring(0, json.offsetByCodePoints(0, Shown))
      cut + (if (json.startsWith("\"")) "…\"" else "…")
    }

  /** A map's key as the place of its value, in an error. */
  def place(key: String): String = s"[${shortened(quoted(key))}]"

  private def ofContainer(in: JsonParser): String = {
    val bytes = new ByteArrayOutputStream()
    val out = factory.createGenerator(bytes)
    var depth = 0
    do {
      depth += copied(in, out)
      if (depth > 0) in.nextToken()
    } while (depth > 0)
    out.close()
    new String(bytes.toByteArray, UTF_8)
  }

  /** Write the parser's token; returns by how much the depth changes. */
  private def copied(in: JsonParser, out: JsonGenerator): Int = {
    in.currentToken() match {
      case JsonToken.START_OBJECT => out.writeStartObject(); 1
      case JsonToken.START_ARRAY => out.writeStartArray(); 1
      case JsonToken.END_OBJECT => out.writeEndObject(); -1
      case JsonToken.END_ARRAY => out.writeEndArray(); -1
      case JsonToken.FIELD_NAME => out.writeFieldName(in.currentName()); 0
      case JsonToken.VALUE_STRING => out.writeString(in.getText); 0
      case JsonToken.VALUE_NUMBER_INT | JsonToken.VALUE_NUMBER_FLOAT =>
        out.writeNumber(in.getText); 0
      case other => out.writeRawValue(other.asString); 0
    }
  }
}
