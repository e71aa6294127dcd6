package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import com.fasterxml.jackson.core.exc.InputCoercionException
import java.math.BigDecimal
import java.util.{ArrayList, LinkedHashMap}
import org.apache.spark.sql.types.{DecimalType, VariantType}
import org.apache.spark.types.variant.{VariantBuilder, VariantSizeLimitException}
import org.apache.spark.unsafe.types.VariantVal

/** A VARIANT: a JSON value of any shape.
  *
  * A whole number of 64 bits is one; another number without an exponent is a decimal, as it is written,
  * if it has at most 38 digits. The others are doubles, and have as many digits as a double's text.
  */
private[sluice] final class JsonVariant extends JsonReads.Read(VariantType) {
  protected def value(in: JsonParser, token: JsonToken): Any = JsonVariant.of(in)
}

private[sluice] object JsonVariant {
  // The most that a text of a double needs, and those of a decimal with its sign and a zero in front.
  private val DoublesDigits = 17
  private val Longest = DecimalType.MAX_PRECISION + 3
  private val LongestWhole = 20
  // Spark's own functions go down by recursion: at twice as many, a task's stack may end its JVM.
  private val Levels = 500

  /** The value that begins at the parser's token, or the first Misfit in it. The parser goes on to the
    * value's end, except where it is too large: then a Misfit is thrown.
    */
  def of(in: JsonParser): Any = {
    val found = new JsonVariant.Value(in)
    try {
      found.append()
      if (found.misfit == null) found.result else found.misfit
    } catch {
      case _: VariantSizeLimitException =>
        throw new Misfit("expected a VARIANT of at most 128 MiB, found a larger one")
    }
  }

  private final class Value(in: JsonParser) {
    private val out = new VariantBuilder(true)
    private var level = 0
    var misfit: Misfit = null

    def result: VariantVal = {
      val made = out.result()
      new VariantVal(made.getValue, made.getMetadata)
    }

    def append(): Unit = in.currentToken() match {
      case token if token.isStructStart && level == Levels =>
        in.skipChildren()
        leaves(s"expected a VARIANT of at most $Levels levels, found more")
      case JsonToken.START_OBJECT => members()
      case JsonToken.START_ARRAY => elements()
      case JsonToken.VALUE_STRING => out.appendString(in.getText)
      case JsonToken.VALUE_NUMBER_INT if appendsLong() => ()
      case JsonToken.VALUE_NUMBER_INT | JsonToken.VALUE_NUMBER_FLOAT => number(in.getText)
      case JsonToken.VALUE_TRUE => out.appendBoolean(true)
      case JsonToken.VALUE_FALSE => out.appendBoolean(false)
      case _ => out.appendNull()
    }

    /** Of a name that is repeated the last value counts. */
    private def members(): Unit = {
      val start = out.getWritePos
      val fields = new ArrayList[VariantBuilder.FieldEntry]
      val (before, lost) = (misfit, new LinkedHashMap[String, Misfit])
      level += 1
      var name = in.nextFieldName()
      while (name != null) {
        in.nextToken()
        fields.add(new VariantBuilder.FieldEntry(name, out.addKey(name), out.getWritePos - start))
        misfit = null
        append()
        if (misfit != null) lost.put(name, misfit) else lost.remove(name)
        name = in.nextFieldName()
      }
      level -= 1
      misfit = if (before != null || lost.isEmpty) before else lost.values.iterator.next()
      out.finishWritingObject(start, fields)
    }

    private def elements(): Unit = {
      val start = out.getWritePos
      val offsets = new ArrayList[Integer]
      level += 1
      while (in.nextToken() != JsonToken.END_ARRAY) {
        offsets.add(out.getWritePos - start)
        append()
      }
      level -= 1
      out.finishWritingArray(start, offsets)
    }

    private def appendsLong(): Boolean = in.getTextLength <= LongestWhole && {
      try {
        out.appendLong(in.getLongValue)
        true
      } catch { case _: InputCoercionException => false }
    }

    private def number(text: String): Unit = decimal(text) match {
      case null => double(text)
      case exact => out.appendDecimal(exact)
    }

    private def double(text: String): Unit = {
      val (near, digits) = (java.lang.Double.parseDouble(text), significant(text))
      if (near.isInfinite || digits > DoublesDigits || (near == 0 && digits > 0))
        leaves(
          s"expected a number of at most ${DecimalType.MAX_PRECISION} digits without exponent, or of a" +
            s" DOUBLE, for VARIANT, found ${Misfit.shortened(text)}"
        )
      else out.appendDouble(near)
    }

    /** What was found first is told. Something stands in its place, as each name has a value. */
    private def leaves(told: String): Unit = {
      out.appendNull()
      if (misfit == null) misfit = new Misfit(told)
    }
  }

  /** Null where it has an exponent, or too many digits. */
  private def decimal(text: String): BigDecimal =
    if (text.length > Longest || text.exists(each => each == 'e' || each == 'E')) null
    else {
      val found = new BigDecimal(text)
      val fits = math.max(found.precision, found.scale) <= DecimalType.MAX_PRECISION
      if (fits) found else null
    }

  /** How many digits a number has without zeros on the outside. */
  private def significant(text: String): Int = {
    val digits = text.takeWhile(each => each != 'e' && each != 'E').filter(Character.isDigit)
    math.max(0, digits.lastIndexWhere(_ != '0') + 1 - digits.takeWhile(_ == '0').length)
  }
}
