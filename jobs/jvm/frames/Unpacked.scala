package sluice

import java.io.{ByteArrayInputStream, IOException, InputStream}
import java.util.Arrays
import java.util.zip.CRC32

/** Unpacked bytes: what comes out of a compression, bounded, or a record of a megabyte could unfold
  * to more than a JVM's memory.
  */
private[sluice] final class Unpacked(name: String, packed: Int) {
  import Unpacked.Most

  private var bytes = new Array[Byte](math.min(Most + 1, math.max(256, 4L * packed)).toInt)
  private var size = 0

  def length: Int = size

  /** Puts in what `read` has for the buffer from a place on, and returns what it returns. Throws a
    * Misfit.
    */
  def take(read: (Array[Byte], Int, Int) => Int): Int = {
    if (size == bytes.length) bytes = Arrays.copyOf(bytes, math.min(Most + 1, 2L * size).toInt)
    val count = read(bytes, size, bytes.length - size)
    size += math.max(0, count)
    if (size > Most) throw Unpacked.tooLarge(name)
    count
  }

  def all(in: InputStream): Unit = while (take(in.read(_, _, _)) >= 0) ()

  def checksum(from: Int): Int = {
    val sum = new CRC32
    sum.update(bytes, from, size - from)
    sum.getValue.toInt
  }

  def whole: Array[Byte] = Arrays.copyOf(bytes, size)
}

private[sluice] object Unpacked {
  val Most = 67108864

  def tooLarge(name: String) =
    new Misfit(f"$name: expected at most $Most%,d bytes, found more")

  def wrong(name: String, why: String, at: Int) = new Misfit(s"not $name: $why at byte $at")

  /** All that a library reads. Throws a Misfit with the byte at which it stopped. */
  def by(name: String, bytes: Array[Byte], open: InputStream => InputStream): Array[Byte] = {
    val out = new Unpacked(name, bytes.length)
    val in = new ByteArrayInputStream(bytes)
    try out.all(open(in))
    catch {
      case misfit: Misfit => throw misfit
      case problem @ (_: IOException | _: RuntimeException) =>
        val told = Option(problem.getMessage).getOrElse(problem.getClass.getSimpleName)
        throw wrong(name, told.take(100), bytes.length - in.available)
    }
    out.whole
  }
}
