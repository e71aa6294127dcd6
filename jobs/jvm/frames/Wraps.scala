package sluice

import com.fasterxml.jackson.databind.JsonNode
import com.google.protobuf.CodedInputStream
import java.io.IOException
import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays
import org.apache.avro.SchemaNormalization
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** Wraps: the frames that are taken off a record before it is decoded, by their names in a spec.
  *
  * `known` has what each needs to know: `header`, the name of the one that may name the schema;
  * `schema`, Avro's; `message` and `places`, the full names of messages by their places.
  */
private[sluice] object Wraps {
  type Payload = InternalRow => Array[Byte]

  /** Each throws a Misfit. */
  def of(frame: String, known: JsonNode): Payload = frame match {
    case "confluent" => confluent(known)
    case "delimited" => record => delimited(record.getBinary(0))
    case "single_object" => singleObject(known)
    case "glue" => glue(known)
  }

  /** The schema that the record names is not looked up. */
  private def confluent(known: JsonNode): Payload = {
    val header = UTF8String.fromString(known.get("header").textValue)
    record => {
      val frame = new Frame(record, header)
      frame.requireSchema()
      if (known.has("message")) {
        val indexes = new ProtobufIndexes(frame.key, known.get("places"))
        indexes.require(known.get("message").textValue, frame.rest)
      }
      frame.body
    }
  }

  private def delimited(bytes: Array[Byte]): Array[Byte] = {
    val (length, start) = lengthOf(bytes, 0)
    if (length > bytes.length - start)
      throw new Misfit(
        s"not a message after its length: expected $length bytes, found ${bytes.length - start}"
      )
    val end = start + length
    if (end < bytes.length) {
      val count = countOf(bytes)
      throw new Misfit(
        if (count > 0) s"expected one message after its length, found $count"
        else s"expected the end of the message at byte $end, found ${bytes.length - end} more bytes"
      )
    }
    Arrays.copyOfRange(bytes, start, bytes.length)
  }

  private def lengthOf(bytes: Array[Byte], at: Int): (Int, Int) =
    try {
      val in = CodedInputStream.newInstance(bytes, at, bytes.length - at)
      val length = in.readRawVarint32()
      if (length < 0) throw new IOException()
      (length, at + in.getTotalBytesRead)
    } catch {
      case _: IOException =>
        throw new Misfit(s"not a message after its length: found no length at byte $at")
    }

  /** How many messages, each after its length; 0 where that is not all. */
  private def countOf(bytes: Array[Byte]): Int =
    try {
      var (count, at) = (0, 0)
      while (at < bytes.length) {
        val (length, start) = lengthOf(bytes, at)
        if (length > bytes.length - start) return 0
        at = start + length
        count += 1
      }
      count
    } catch { case _: Misfit => 0 }

  private val FirstOfObject = Array(0xc3.toByte, 1.toByte)
  private val ObjectHeader = 10

  private def singleObject(known: JsonNode): Payload = {
    val schema = AvroDatum.parsed(known.get("schema").textValue)
    val expected = SchemaNormalization.parsingFingerprint64(schema)
    record => {
      val bytes = record.getBinary(0)
      require("an Avro single object", bytes, bytes.startsWith(FirstOfObject), "c301", ObjectHeader)
      val found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(2)
      if (found != expected)
        throw new Misfit(
          f"expected a record of the declared schema, whose fingerprint is 0x$expected%016x, found 0x$found%016x"
        )
      Arrays.copyOfRange(bytes, ObjectHeader, bytes.length)
    }
  }

  private val GlueHeader = 18

  /** Its second byte says whether the bytes after the header are compressed. */
  private def glue(known: JsonNode): Payload = record => {
    val bytes = record.getBinary(0)
    val fits = bytes.length > 1 && bytes(0) == 3 && (bytes(1) == 0 || bytes(1) == 5)
    require("AWS Glue's frame", bytes, fits, "0300 or 0305", GlueHeader)
    val rest = Arrays.copyOfRange(bytes, GlueHeader, bytes.length)
    val payload = if (bytes(1) == 5) Deflated.zlib(rest) else rest
    if (known.has("message")) afterPlace(payload, known) else payload
  }

  /** Of Protobuf, a number says which of the schema's messages follows. */
  private def afterPlace(bytes: Array[Byte], known: JsonNode): Array[Byte] = {
    val (place, start) =
      try lengthOf(bytes, 0)
      catch { case _: Misfit => throw new Misfit("AWS Glue's frame: found no message index") }
    val (expected, found) =
      (known.get("message").textValue, known.get("places").path(place.toString).asText("none"))
    if (found != expected)
      throw new Misfit(
        s"expected the message $expected, found $found at the message index $place"
      )
    Arrays.copyOfRange(bytes, start, bytes.length)
  }

  private def require(
      name: String,
      bytes: Array[Byte],
      begins: Boolean,
      expected: String,
      least: Int
  ): Unit = {
    if (!begins)
      throw new Misfit(s"not $name: expected $expected, found ${Bytes.hex(bytes)}")
        .hinted(ValueKind.of(bytes))
    if (bytes.length < least)
      throw new Misfit(s"not $name: expected $least bytes before the record, found ${bytes.length}")
  }
}
