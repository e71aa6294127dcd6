package sluice

import java.io.IOException
import java.nio.ByteBuffer
import org.apache.commons.compress.compressors.snappy.FramedSnappyCompressorInputStream
import org.xerial.snappy.Snappy

/** Snappy's three forms, known by how they begin: no block begins like one of the two streams. */
private[sluice] object Snappies {
  private val Name = "snappy"
  // The stream of Snappy's own format, and that of snappy-java, which Kafka's clients write.
  private val Framed = Array(0xff, 6, 0, 0).map(_.toByte) ++ "sNaPpY".getBytes
  private val OfJava = 0x82.toByte +: "SNAPPY\u0000".getBytes
  private val HeaderOfJava = 16

  /** Throws a Misfit. */
  def unpacked(bytes: Array[Byte]): Array[Byte] =
    if (bytes.isEmpty) throw new Misfit("not snappy: found no bytes")
    else if (bytes.startsWith(Framed))
      Unpacked.by(Name, bytes, new FramedSnappyCompressorInputStream(_))
    else if (bytes.startsWith(OfJava)) ofJava(bytes)
    else block(bytes, 0, bytes.length)

  /** Blocks, each after its length. */
  private def ofJava(bytes: Array[Byte]): Array[Byte] = {
    val out = new Unpacked(Name, bytes.length)
    var at = HeaderOfJava
    if (bytes.length < at) throw Unpacked.wrong(Name, "found the end", bytes.length)
    while (at < bytes.length) {
      val left = bytes.length - at - 4
      val length = if (left < 0) left else ByteBuffer.wrap(bytes).getInt(at)
      if (length < 0 || length > left) throw Unpacked.wrong(Name, "found the end", bytes.length)
      put(block(bytes, at + 4, length), out)
      at += 4 + length
    }
    out.whole
  }

  private def put(block: Array[Byte], out: Unpacked): Unit = {
    val in = ByteBuffer.wrap(block)
    while (in.hasRemaining) out.take { (into, start, room) =>
      val count = math.min(room, in.remaining)
      in.get(into, start, count)
      count
    }
  }

  /** What a block tells of its length is believed only where its bytes have so much. */
  def block(bytes: Array[Byte], start: Int, length: Int): Array[Byte] =
    try {
      if (length == 0 || !Snappy.isValidCompressedBuffer(bytes, start, length))
        throw Unpacked.wrong(Name, "found no valid block", start)
      val size = Snappy.uncompressedLength(bytes, start, length)
      if (size < 0 || size > Unpacked.Most) throw Unpacked.tooLarge(Name)
      val found = new Array[Byte](size)
      Snappy.uncompress(bytes, start, length, found, 0)
      found
    } catch {
      case problem: IOException => throw Unpacked.wrong(Name, problem.getMessage, start)
    }
}
