package sluice

/** Years: the days and moments that columns hold, those of the years 0001 to 9999. */
private[sluice] object Years {
  private val FirstSecond = -62135596800L
  private val LastSecond = 253402300799L

  def holdDay(day: Int): Boolean = holdSecond(day * 86400L)

  /** The day of a number since 1970; null beyond the years, as for null. */
  def day(number: java.lang.Long): Any =
    if (number == null || Math.abs(number) > Int.MaxValue || !holdDay(number.toInt)) null
    else number.toInt

  def holdMicros(micros: Long): Boolean = holdSecond(Math.floorDiv(micros, 1000000L))

  def holdSecond(second: Long): Boolean = second >= FirstSecond && second <= LastSecond
}
