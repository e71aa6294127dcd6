package sluice

import com.google.protobuf.{ByteString, Message}
import com.google.protobuf.Descriptors.Descriptor
import java.math.{BigDecimal, BigInteger}
import java.time.{DateTimeException, LocalDate}
import org.apache.spark.sql.types.{DataType, DateType, Decimal, DecimalType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Named: messages of Confluent's and Google's that are read as the column that their name says
  * (jobs/sluice/schemas/protobuf/named_types.py, which has compared their fields).
  */
private[sluice] object ProtobufNamed {

  /** Null for any other message, and for one that the columns have as it is. */
  def of(message: Descriptor, declared: DataType): Any => Any =
    (message.getFullName, declared) match {
      case ("google.type.Date", DateType) => new Dates(message).day
      case ("google.type.Money", struct: StructType) if struct.fieldNames.contains("amount") =>
        new Amounts(message).money
      case ("confluent.type.Decimal", decimal: DecimalType) => new Decimals(message).as(decimal)
      case ("confluent.type.Decimal", StringType) => new Decimals(message).text
      case _ => null
    }

  /** The message's fields by their numbers, and what it may not have beside them. */
  private abstract class Parts(message: Descriptor, columns: String) {
    private val strangers = new ProtobufStrangers(message, StructType.fromDDL(columns))
    private val fields = Array.tabulate(3)(place => message.findFieldByNumber(place + 1))

    protected def parts(found: Any): Array[Any] = {
      val parts = found.asInstanceOf[Message]
      strangers.refuse(parts)
      fields.map(parts.getField)
    }
  }

  private final class Dates(message: Descriptor) extends Parts(message, "year INT, month INT, day INT") {

    /** A whole one: Google's may also be a year, a month of a year, or a day of each year. */
    def day(found: Any): Any = {
      val Array(year: Int, month: Int, day: Int) = parts(found): @unchecked
      try {
        val days = LocalDate.of(year, month, day).toEpochDay
        if (days == days.toInt && Years.holdDay(days.toInt)) return days.toInt
      } catch { case _: DateTimeException => }
      throw new Misfit(
        s"""expected DATE, found {"year":$year,"month":$month,"day":$day}"""
      )
    }
  }

  private final class Amounts(message: Descriptor)
      extends Parts(message, "currency_code STRING, units BIGINT, nanos INT") {
    private val Nanos = 1000000000

    def money(found: Any): Any = {
      val Array(currency, units: Long, nanos: Int) = parts(found): @unchecked
      if (nanos.abs >= Nanos || units.sign * nanos.sign < 0)
        throw new Misfit(s"""expected DECIMAL(28,9), found {"units":$units,"nanos":$nanos}""")
          .within("amount")
      val made = Cells.row(2)
      made.update(
        0,
        try ProtobufScalars.text(currency)
        catch { case misfit: Misfit => throw misfit.within("currency_code") }
      )
      val amount = BigDecimal.valueOf(units).add(BigDecimal.valueOf(nanos.toLong, 9))
      made.update(1, Decimal(amount, 28, 9))
      made
    }
  }

  private final class Decimals(message: Descriptor)
      extends Parts(message, "value BINARY, precision BIGINT, scale INT") {
    // Digits take time to write, and no number has so many.
    private val Longest = 1000

    def as(declared: DecimalType)(found: Any): Any = {
      val expected = Misfit.words(declared)
      val number = exact(found, expected)
      val least = if (number.signum == 0) BigDecimal.ZERO else number.stripTrailingZeros
      val whole = least.precision.toLong - least.scale
      if (least.scale > declared.scale || whole > declared.precision - declared.scale)
        throw new Misfit(s"expected $expected, found ${Misfit.shortened(number.toString)}")
      Decimal(least.setScale(declared.scale), declared.precision, declared.scale)
    }

    def text(found: Any): Any = UTF8String.fromString(exact(found, "a decimal").toString)

    /** The unscaled number is the bytes', of which none are 0. */
    private def exact(found: Any, expected: String): BigDecimal = {
      val Array(value: ByteString, _, scale: Int) = parts(found): @unchecked
      if (value.size > Longest)
        throw new Misfit(s"expected $expected, found one of ${value.size} bytes")
      val unscaled = if (value.isEmpty) BigInteger.ZERO else new BigInteger(value.toByteArray)
      new BigDecimal(unscaled, scale)
    }
  }
}
