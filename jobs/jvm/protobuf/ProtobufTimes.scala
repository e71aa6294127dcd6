package sluice

import com.google.protobuf.Descriptors.Descriptor
import com.google.protobuf.Message
import java.math.BigDecimal
import java.time.Instant
import org.apache.spark.sql.types.{Decimal, StructType}

/** Times: seconds and nanoseconds as a moment's microseconds, or as a number of seconds. */
private[sluice] final class ProtobufTimes(message: Descriptor) {
  import ProtobufTimes._

  private val strangers =
    new ProtobufStrangers(message, new StructType().add("seconds", "bigint").add("nanos", "int"))
  private val (seconds, nanos) = (message.findFieldByNumber(1), message.findFieldByNumber(2))

  /** Digits beyond microseconds are cut. */
  def timestamp(found: Any): Any = {
    val (whole, rest) = moment(found)
    whole * 1000000 + rest / 1000
  }

  /** As RFC 3339 has it, with all digits. */
  def instant(found: Any): Instant = {
    val (whole, rest) = moment(found)
    Instant.ofEpochSecond(whole, rest)
  }

  private def moment(found: Any): (Long, Long) = {
    val (whole, rest) = parts(found)
    if (!Years.holdSecond(whole) || rest < 0 || rest >= Nanos)
      throw misfit("TIMESTAMP", whole, rest)
    (whole, rest)
  }

  def duration(found: Any): Any = Decimal(exact(found), 21, 9)

  /** Without zeros at its end. */
  def seconds(found: Any): BigDecimal = {
    val seconds = exact(found)
    if (seconds.signum == 0) BigDecimal.ZERO else seconds.stripTrailingZeros
  }

  private def exact(found: Any): BigDecimal = {
    val (whole, rest) = parts(found)
    if (whole < -Longest || whole > Longest || rest.abs >= Nanos || whole.sign * rest.sign < 0)
      throw misfit("DECIMAL(21,9)", whole, rest)
    BigDecimal.valueOf(whole).add(BigDecimal.valueOf(rest, 9))
  }

  private def parts(found: Any): (Long, Long) = {
    val parts = found.asInstanceOf[Message]
    strangers.refuse(parts)
    (parts.getField(seconds).asInstanceOf[Long], parts.getField(nanos).asInstanceOf[Int].toLong)
  }

  private def misfit(expected: String, whole: Long, rest: Long) =
    new Misfit(s"""expected $expected, found {"seconds":$whole,"nanos":$rest}""")
}

private object ProtobufTimes {
  private val Nanos = 1000000000L
  // The most seconds that Protobuf's Duration may be.
  private val Longest = 315576000000L
}
