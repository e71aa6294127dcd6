package sluice

import java.math.{BigDecimal, BigInteger}

/** An unscaled number, its digits as bytes, and the scale that it has. */
private[sluice] object UnscaledNumber {
  // A number of more digits is none that anybody has stored.
  private val MostBytes = 512
  private val MostPlaces = 1000

  /** Null where it has no digits, or far too many. */
  def of(bytes: Array[Byte], scale: Int): BigDecimal =
    if (bytes.isEmpty || bytes.length > MostBytes || scale < -MostPlaces || scale > MostPlaces) null
    else new BigDecimal(new BigInteger(bytes), scale)
}
