package sluice

import java.time.LocalTime
import java.time.format.DateTimeFormatter
import org.apache.spark.unsafe.types.UTF8String

/** Times of day: numbers since midnight as text, HH:MM:SS with the microseconds if there are any. */
private[sluice] object TimesOfDay {
  private val Seconds = DateTimeFormatter.ofPattern("HH:mm:ss")
  private val Fractions = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS")
  private val Second = 1000000000L

  /** `nanos` is what the number counts; a Misfit beyond a day. */
  def of(number: Long, nanos: Long): Any =
    if (number < 0 || number >= 86400 * Second / nanos)
      new Misfit(s"expected a time of day, found $number")
    else {
      val time = LocalTime.ofNanoOfDay(number * nanos)
      UTF8String.fromString(time.format(if (time.getNano == 0) Seconds else Fractions))
    }
}
