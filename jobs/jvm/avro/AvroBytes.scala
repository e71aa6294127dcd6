package sluice

import org.apache.spark.unsafe.types.UTF8String

/** Bytes: the parts of Avro's encoding, each checked before anything is made of it. */
private[sluice] object AvroBytes {

  private val Shown = 50

  /** Of a datum that begins at `start`. */
  final class Cursor(val bytes: Array[Byte], val start: Int) {
    var at = start
    var depth = 0
    var empty = 0
    var last = 0

    def left: Int = bytes.length - at

    def skip(count: Long): Unit = {
      if (count < 0) throw new Misfit(s"expected a length, found $count")
      if (count > left) throw new Misfit(s"expected $count bytes, found $left")
      at += count.toInt
    }

    private def next(): Int = {
      if (at >= bytes.length) throw new Misfit("expected a number, found the end of the record")
      at += 1
      bytes(at - 1)
    }

    /** Zigzag, seven bits a byte, and no more bits than it has. */
    private def zigzag(bits: Int, what: String): Long = {
      var byte = next()
      var found = (byte & 0x7f).toLong
      var shift = 7
      while (byte < 0) {
        byte = next()
        val wide = bits - shift
        if (wide < 7 && (byte < 0 || wide <= 0 || (byte >> wide) != 0))
          throw new Misfit(s"expected $what, found one of more than $bits bits")
        found |= (byte & 0x7f).toLong << shift
        shift += 7
      }
      (found >>> 1) ^ -(found & 1)
    }

    def long(): Long = zigzag(64, "a long")

    def int(): Int = zigzag(32, "an int").toInt

    def boolean(): Boolean = {
      skip(1)
      val found = bytes(at - 1)
      if (found != 0 && found != 1)
        throw new Misfit(s"expected a boolean, found the byte ${found & 0xff}")
      found == 1
    }

    def float(): Float = {
      skip(4)
      java.lang.Float.intBitsToFloat(fourBytes(at - 4))
    }

    def double(): Double = {
      skip(8)
      val high = fourBytes(at - 4).toLong << 32
      java.lang.Double.longBitsToDouble(high | (fourBytes(at - 8) & 0xffffffffL))
    }

    /** The lowest first. */
    private def fourBytes(first: Int): Int =
      bytes(first) & 0xff | (bytes(first + 1) & 0xff) << 8 | (bytes(first + 2) & 0xff) << 16 |
        bytes(first + 3) << 24

    /** Which of so many; `last` afterwards. */
    def place(count: Int, what: String): Int = {
      last = int()
      if (last < 0 || last >= count)
        throw new Misfit(s"expected the place $what below $count, found $last")
      last
    }

    /** Text of the bytes as they stand here: they must not be changed afterwards. */
    def text(): UTF8String = {
      val first = checkedText()
      UTF8String.fromBytes(bytes, first, at - first)
    }

    /** Where the text begins that ends here. */
    def checkedText(): Int = {
      val first = pastBytes()
      if (!isText(first))
        throw new Misfit(s"""expected text in UTF-8, found bytes "${hex(first)}"""")
      first
    }

    def bytesAsText(): UTF8String = {
      val first = pastBytes()
      if (!isText(first)) throw new Misfit(s"""expected STRING, found "${hex(first)}"""")
      UTF8String.fromBytes(bytes, first, at - first)
    }

    private def pastBytes(): Int = {
      val length = long()
      val first = at
      skip(length)
      first
    }

    private def isText(first: Int): Boolean = {
      var seen = first
      while (seen < at && bytes(seen) >= 0) seen += 1
      seen == at || UTF8String.fromBytes(bytes, first, at - first).isValid
    }

    private def hex(first: Int): String = {
      val shown = bytes.slice(first, math.min(at, first + Shown)).map(each => f"$each%02X").mkString
      if (at - first > Shown) shown + "…" else shown
    }
  }
}
