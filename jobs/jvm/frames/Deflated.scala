package sluice

import java.util.Arrays
import java.util.zip.{DataFormatException, Inflater}

/** Deflated bytes: gzip's members, zlib's stream, or neither's header around them. */
private[sluice] object Deflated {

  /** One stream and nothing after it. Throws a Misfit, as all others. */
  def zlib(bytes: Array[Byte]): Array[Byte] = {
    if (bytes.isEmpty) throw new Misfit("not zlib: found no bytes")
    val out = new Unpacked("zlib", bytes.length)
    val end = inflate("zlib", bytes, 0, out, bare = false)
    if (end < bytes.length) throw Unpacked.wrong("zlib", "expected the end, found more", end)
    out.whole
  }

  /** As in a container file of Avro, where some writers leave a part of zlib's checksum behind it. */
  def bare(bytes: Array[Byte]): Array[Byte] = {
    val out = new Unpacked("deflate", bytes.length)
    inflate("deflate", bytes, 0, out, bare = true)
    out.whole
  }

  /** One member after another. */
  def gzip(bytes: Array[Byte]): Array[Byte] = {
    if (bytes.isEmpty) throw new Misfit("not gzip: found no bytes")
    val out = new Unpacked("gzip", bytes.length)
    var at = 0
    while (at < bytes.length) at = member(bytes, at, out)
    out.whole
  }

  private val Magic = Array(0x1f, 0x8b, 8).map(_.toByte)
  private val Header = 10
  private val Trailer = 8

  /** Where the member ends that begins there. */
  private def member(bytes: Array[Byte], start: Int, out: Unpacked): Int = {
    val found = Arrays.copyOfRange(bytes, start, math.min(start + 3, bytes.length))
    if (!Magic.startsWith(found))
      throw Unpacked.wrong(
        "gzip",
        s"expected ${if (start == 0) "" else "the end, or another member: "}1f8b08, found ${Bytes.hex(found)}",
        start
      )
    val before = out.length
    val end = inflate("gzip", bytes, pastHeader(bytes, start), out, bare = true)
    require(bytes, end, Trailer)
    if (little(bytes, end) != out.checksum(before))
      throw Unpacked.wrong("gzip", "found another checksum than that of the content", end)
    if (little(bytes, end + 4) != out.length - before)
      throw Unpacked.wrong("gzip", "found another length than that of the content", end + 4)
    end + Trailer
  }

  /** Its flags say what the header has beyond ten bytes. */
  private def pastHeader(bytes: Array[Byte], start: Int): Int = {
    require(bytes, start, Header)
    val flags = bytes(start + 3)
    var at = start + Header
    if ((flags & 0xe0) != 0) throw Unpacked.wrong("gzip", "found unknown flags", start + 3)
    if ((flags & 4) != 0) {
      require(bytes, at, 2)
      at += 2 + (bytes(at) & 0xff | (bytes(at + 1) & 0xff) << 8)
    }
    // A name, then a comment.
    for (flag <- Seq(8, 16) if (flags & flag) != 0) {
      while (at < bytes.length && bytes(at) != 0) at += 1
      at += 1
    }
    if ((flags & 2) != 0) at += 2
    require(bytes, at, 0)
    at
  }

  private def require(bytes: Array[Byte], at: Int, count: Int): Unit =
    if (at > bytes.length - count) throw Unpacked.wrong("gzip", "found the end", bytes.length)

  private def little(bytes: Array[Byte], at: Int): Int =
    Integer.reverseBytes(java.nio.ByteBuffer.wrap(bytes).getInt(at))

  /** Where the deflated bytes end that begin there. */
  private def inflate(
      name: String,
      bytes: Array[Byte],
      start: Int,
      out: Unpacked,
      bare: Boolean
  ): Int = {
    val in = new Inflater(bare)
    try {
      in.setInput(bytes, start, bytes.length - start)
      while (!in.finished) {
        if (out.take(in.inflate(_, _, _)) == 0 && !in.finished) {
          if (in.needsDictionary) throw Unpacked.wrong(name, "found a dictionary", start)
          if (in.needsInput) throw Unpacked.wrong(name, "found the end", bytes.length)
        }
      }
      bytes.length - in.getRemaining
    } catch {
      case problem: DataFormatException =>
        val told = Option(problem.getMessage).getOrElse("invalid data")
        throw Unpacked.wrong(name, told, bytes.length - in.getRemaining)
    } finally in.end()
  }
}
