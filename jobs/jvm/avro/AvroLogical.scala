package sluice

import java.nio.{ByteBuffer, ByteOrder}
import java.util.UUID
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.unsafe.types.UTF8String

/** Logical types: what a number or bytes stand for, as their column holds it; a Misfit in its place
  * where it cannot. Decimals are AvroReads' own.
  */
private[sluice] object AvroLogical {
  private val Millis = 1000L
  private val Micros = 1000000L

  /** Null where the type is read as what carries it. */
  def of(reader: Schema): Any => Any = (reader.getProp("logicalType"), reader.getType) match {
    case ("date", _) =>
      day => if (Years.holdDay(day.asInstanceOf[Int])) day else misfit("DATE", day)
    case ("time-millis", _) => number => TimesOfDay.of(number.asInstanceOf[Int].toLong, 1000000L)
    case ("time-micros", _) => number => TimesOfDay.of(number.asInstanceOf[Long], 1000L)
    case ("timestamp-millis" | "local-timestamp-millis", _) =>
      number => moment(number.asInstanceOf[Long], Millis)
    case ("timestamp-micros" | "local-timestamp-micros", _) =>
      number => moment(number.asInstanceOf[Long], Micros)
    // Every one is in years that a column holds. Digits beyond microseconds are cut.
    case ("timestamp-nanos" | "local-timestamp-nanos", _) =>
      number => Math.floorDiv(number.asInstanceOf[Long], 1000L)
    case ("sluice-time-nanos", _) => number => TimesOfDay.of(number.asInstanceOf[Long], 1L)
    case ("sluice-timestamp-text", _) => text => fitted("TIMESTAMP", text, JsonTimes.timestamp)
    case ("sluice-date-text", _) =>
      text => fitted("DATE", text, found => JsonTimes.date(found.stripSuffix("Z")))
    case ("uuid", Schema.Type.FIXED) => bytes => uuid(bytes.asInstanceOf[Array[Byte]])
    case ("duration", _) => bytes => duration(bytes.asInstanceOf[Array[Byte]])
    case _ => null
  }

  private def misfit(expected: String, found: Any) =
    new Misfit(s"expected $expected, found $found")

  private def fitted(expected: String, text: Any, read: String => Any): Any =
    read(text.toString) match {
      case null => misfit(expected, Misfit.shortened(text.toString))
      case found => found
    }

  private def moment(number: Long, perSecond: Long): Any =
    if (Years.holdSecond(Math.floorDiv(number, perSecond))) number * (Micros / perSecond)
    else misfit("TIMESTAMP", number)

  private def uuid(bytes: Array[Byte]): Any = {
    val halves = ByteBuffer.wrap(bytes)
    UTF8String.fromString(new UUID(halves.getLong(), halves.getLong()).toString)
  }

  /** Months, days and milliseconds. */
  private def duration(bytes: Array[Byte]): Any = {
    val numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    new GenericInternalRow(Array.fill[Any](3)(Integer.toUnsignedLong(numbers.getInt())))
  }
}
