package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import com.fasterxml.jackson.core.exc.InputCoercionException
import java.math.{BigDecimal, BigInteger}
import java.util.Base64
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Scalars: a JSON string, number or literal as a column's value; null where it does not fit. */
private[sluice] object JsonScalars {
  import JsonReads.Read

  def of(declared: DataType, unit: String): Read = declared match {
    case StringType =>
      new Read(declared) {
        protected def value(in: JsonParser, token: JsonToken): Any = text(in, token)
      }
    case BooleanType =>
      new Read(declared) {
        protected def value(in: JsonParser, token: JsonToken): Any = token match {
          case JsonToken.VALUE_TRUE => true
          case JsonToken.VALUE_FALSE => false
          case _ => null
        }
      }
    case ByteType => new Whole(declared, Byte.MinValue, Byte.MaxValue, _.toByte)
    case ShortType => new Whole(declared, Short.MinValue, Short.MaxValue, _.toShort)
    case IntegerType => new Whole(declared, Int.MinValue, Int.MaxValue, _.toInt)
    case LongType => new Whole(declared, Long.MinValue, Long.MaxValue, identity)
    case FloatType => new OfNumber(declared, text => finite(java.lang.Float.parseFloat(text)))
    case DoubleType => new OfNumber(declared, text => finite(java.lang.Double.parseDouble(text)))
    case decimal: DecimalType => new OfNumber(declared, Digits(_).decimal(decimal))
    case DateType if unit == "days" => new Days(declared)
    case DateType => new OfString(declared, JsonTimes.date)
    case BinaryType => new OfString(declared, binary)
    case TimestampType if unit.isEmpty => new OfString(declared, JsonTimes.timestamp)
    case TimestampType => new Moments(declared, unit)
    case other => throw new IllegalArgumentException(s"sluice_json: no column of ${other.sql}")
  }

  private def text(in: JsonParser, token: JsonToken): UTF8String =
    UTF8String.fromString(if (token == JsonToken.VALUE_STRING) in.getText else JsonText.of(in))

  private final class Whole(declared: DataType, least: Long, most: Long, as: Long => Any)
      extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.VALUE_NUMBER_INT || in.getTextLength > 20) null
      else
        try {
          val number = in.getLongValue
          if (number < least || number > most) null else as(number)
        } catch { case _: InputCoercionException => null }
  }

  private final class OfNumber(declared: DataType, as: String => Any) extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token.isNumeric) as(in.getText) else null
  }

  private final class OfString(declared: DataType, as: String => Any) extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token == JsonToken.VALUE_STRING) as(in.getText) else null
  }

  /** Moments that may also be numbers of a unit since 1970; one between two microseconds is the earlier. */
  private final class Moments(declared: DataType, unit: String) extends Read(declared) {
    private val places = unit match {
      case "s" => 6
      case "ms" => 3
      case "us" => 0
      case "ns" => -3
    }

    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token == JsonToken.VALUE_STRING) JsonTimes.timestamp(in.getText)
      else if (token.isNumeric) JsonTimes.withinYears(Digits(in.getText).whole(places))
      else null
  }

  /** Days that may also be whole numbers since 1970. */
  private final class Days(declared: DataType) extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token == JsonToken.VALUE_STRING) JsonTimes.date(in.getText)
      else if (token != JsonToken.VALUE_NUMBER_INT) null
      else Years.day(Digits(in.getText).whole(0))
  }

  private def finite(number: Float): Any = if (number.isInfinite) null else number
  private def finite(number: Double): Any = if (number.isInfinite) null else number

  /** Base64 of RFC 4648: the standard alphabet, padded, nothing in between. */
  private def binary(text: String): Any =
    if (text.length % 4 != 0) null
    else
      try Base64.getDecoder.decode(text)
      catch { case _: IllegalArgumentException => null }

  /** A number: whole digits without outer zeros, times a power of ten. */
  private final class Digits(negative: Boolean, digits: String, exponent: Long) {

    def decimal(declared: DecimalType): Any = {
      val whole = declared.precision - declared.scale
      if (digits.isEmpty) Decimal(BigDecimal.ZERO, declared.precision, declared.scale)
      else if (exponent < -declared.scale || digits.length + exponent > whole) null
      else {
        val number = new BigDecimal(new BigInteger(signed(digits)), -exponent.toInt)
        Decimal(number.setScale(declared.scale), declared.precision, declared.scale)
      }
    }

    /** Times ten to some power, the whole number that is not above it; null if it has more than 18
      * digits before the point.
      */
    def whole(power: Int): java.lang.Long = {
      val shift = exponent + power
      val places = digits.length + shift
      if (digits.isEmpty) 0L
      else if (places > 18) null
      else if (shift >= 0) signed(digits + "0" * shift.toInt).toLong
      else {
        // What is cut is not zero: digits do not end with one.
        val cut = if (places <= 0) 0L else signed(digits.substring(0, places.toInt)).toLong
        if (negative) cut - 1 else cut
      }
    }

    private def signed(digits: String): String = if (negative) s"-$digits" else digits
  }

  private object Digits {
    // Beyond it only the sign of an exponent matters: no text has so many digits.
    private val Vast = 1000000000000L

    def apply(text: String): Digits = {
      val mark = math.max(text.indexOf('e'), text.indexOf('E'))
      val number = if (mark < 0) text else text.substring(0, mark)
      val negative = number.startsWith("-")
      val point = number.indexOf('.')
      val fraction = if (point < 0) 0 else number.length - point - 1
      val all = number.substring(if (negative) 1 else 0).replace(".", "")
      val digits = all.dropWhile(_ == '0')
      val end = digits.lastIndexWhere(_ != '0') + 1
      val power = if (mark < 0) 0L else exponent(text.substring(mark + 1))
      new Digits(negative, digits.substring(0, end), power - fraction + digits.length - end)
    }

    private def exponent(text: String): Long = {
      val far = text.dropWhile(each => each == '+' || each == '-').dropWhile(_ == '0')
      val size = if (far.isEmpty) 0L else if (far.length > 12) Vast else far.toLong
      if (text.startsWith("-")) -size else size
    }
  }
}
