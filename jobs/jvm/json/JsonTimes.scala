package sluice

import java.time.{DateTimeException, LocalDate}

/** Times: texts of RFC 3339 as Spark's days and microseconds; null for any other. */
private[sluice] object JsonTimes {
  private val Micros = 1000000L

  /** A full-date, from year 1 on. */
  def date(text: String): Any =
    if (text.length != 10) null
    else {
      val day = dayAt(text)
      if (day == NoDay) null else day.toInt
    }

  /** A date-time, in UTC if it names no zone; digits beyond microseconds are cut. */
  def timestamp(text: String): Any = {
    val day = if (text.length < 19) NoDay else dayAt(text)
    val between = if (day == NoDay) ' ' else text.charAt(10)
    if (day == NoDay || (between != 'T' && between != 't' && between != ' ')) null
    else {
      val second = secondAt(text, 11)
      val end = fractionEnd(text)
      val offset = if (end < 0) NoOffset else offsetAt(text, end)
      if (second < 0 || offset == NoOffset) null
      else withinYears((day * 86400L + second - offset) * Micros + fraction(text, end))
    }
  }

  /** Microseconds, if they are in the years 1 to 9999; else null, as for null. */
  def withinYears(micros: java.lang.Long): Any =
    if (micros == null || !Years.holdMicros(micros)) null else micros

  private val NoDay = Long.MinValue
  private val NoOffset = Int.MinValue

  private def digits(text: String, from: Int, until: Int): Int = {
    var found = 0
    var at = from
    while (at < until) {
      val digit = if (at < text.length) text.charAt(at) - '0' else -1
      if (digit < 0 || digit > 9) return -1
      found = found * 10 + digit
      at += 1
    }
    found
  }

  private def dayAt(text: String): Long = {
    val (year, month, day) = (digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10))
    if (year < 1 || month < 1 || day < 1 || text.charAt(4) != '-' || text.charAt(7) != '-') NoDay
    else
      try LocalDate.of(year, month, day).toEpochDay
      catch { case _: DateTimeException => NoDay }
  }

  private def secondAt(text: String, at: Int): Int = {
    val (hour, minute) = (digits(text, at, at + 2), digits(text, at + 3, at + 5))
    val second = digits(text, at + 6, at + 8)
    val formed = text.charAt(at + 2) == ':' && text.charAt(at + 5) == ':'
    if (!formed || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) -1
    else hour * 3600 + minute * 60 + second
  }

  /** Where the second's fraction ends, that begins at 19, if any; -1 where it has no digits. */
  private def fractionEnd(text: String): Int =
    if (text.length == 19 || text.charAt(19) != '.') 19
    else {
      var end = 20
      while (end < text.length && digits(text, end, end + 1) >= 0) end += 1
      if (end == 20) -1 else end
    }

  private def fraction(text: String, end: Int): Int = {
    var found = 0
    for (at <- 20 until 26) found = found * 10 + (if (at < end) text.charAt(at) - '0' else 0)
    found
  }

  /** The offset in seconds that ends the text. */
  private def offsetAt(text: String, at: Int): Int = {
    val left = text.length - at
    if (left == 0 || (left == 1 && (text.charAt(at) == 'Z' || text.charAt(at) == 'z'))) 0
    else if (left != 6 || text.charAt(at + 3) != ':') NoOffset
    else {
      val (hours, minutes) = (digits(text, at + 1, at + 3), digits(text, at + 4, at + 6))
      val sign = if (text.charAt(at) == '+') 1 else if (text.charAt(at) == '-') -1 else 0
      if (sign == 0 || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) NoOffset
      else sign * (hours * 3600 + minutes * 60)
    }
  }
}
