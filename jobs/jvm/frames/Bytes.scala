package sluice

import java.util.HexFormat

/** Bytes, as a reason shows them. */
private[sluice] object Bytes {
  private val Shown = 5

  /** The first of them in hexadecimal digits, or in words that there are none. */
  def hex(bytes: Array[Byte]): String =
    if (bytes.isEmpty) "no bytes"
    else HexFormat.of().formatHex(bytes, 0, math.min(Shown, bytes.length))
}
