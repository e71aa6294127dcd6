package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.Base64
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Connect's types: what the values of a field mean, by the name that Connect or Debezium gives its
  * type. In Python: jobs/sluice/columns/connect_types.py.
  */
private[sluice] object JsonConnect {
  import JsonReads.Read

  /** A type's name, and the scale of a decimal. */
  final case class Named(name: String, scale: Int)

  private val Connects = "org.apache.kafka.connect.data"
  private val Debeziums = "io.debezium.time"
  private val Moments = Map(
    s"$Debeziums.Timestamp" -> "ms",
    s"$Debeziums.MicroTimestamp" -> "us",
    s"$Debeziums.NanoTimestamp" -> "ns",
    s"$Connects.Timestamp" -> "ms"
  )
  private val Times = Map(
    s"$Debeziums.Time" -> 1000000L,
    s"$Debeziums.MicroTime" -> 1000L,
    s"$Debeziums.NanoTime" -> 1L,
    s"$Connects.Time" -> 1000000L
  )
  private val Days = Set(s"$Debeziums.Date", s"$Connects.Date")
  private val IsoDate = s"$Debeziums.IsoDate"
  private val Decimals = s"$Connects.Decimal"
  private val VariableScale = "io.debezium.data.VariableScaleDecimal"

  /** How a field of such a type is read; `named` is null where nothing names it. Numbers are days for
    * a DATE, which Debezium writes in no other way.
    */
  private def read(declared: DataType, unit: String, rescue: Boolean, named: Named): Read = {
    val name = if (named == null) "" else named.name
    declared match {
      case TimestampType if Moments.contains(name) => JsonReads.of(declared, Moments(name), rescue)
      case TimestampType if Days(name) => JsonReads.of(declared, "", rescue)
      case DateType if Moments.contains(name) => JsonReads.of(declared, "", rescue)
      case DateType if name == IsoDate => new IsoDays(declared)
      case DateType => JsonReads.of(declared, "days", rescue)
      case StringType if Times.contains(name) => new TimeOfDay(declared, Times(name))
      case _: DecimalType if name == Decimals => new Digits(declared, named.scale)
      case StringType if name == Decimals => new Digits(declared, named.scale)
      case _: DecimalType => new VariableDigits(declared)
      case StringType if name == VariableScale => new VariableDigits(declared)
      case _ => JsonReads.of(declared, unit, rescue)
    }
  }

  /** What reads a row, of whose fields a record's own schema names these types. */
  def members(
      row: StructType,
      unit: String,
      rescue: Boolean,
      types: Map[String, Named]
  ): JsonReads.Members = {
    val fields = row.map { each =>
      val known = types.get(each.name).orElse(declared(each)).orNull
      read(each.dataType, JsonReads.unitOf(each, unit), rescue, known)
    }
    new JsonReads.Members(row, fields.toArray, rescue)
  }

  /** What reads a value that is no object, as a row's one column. */
  def alone(column: StructField, unit: String, rescue: Boolean, schema: ByteBuffer): Read = {
    val known = Option(schema).flatMap(given => named(tree(given))).orElse(declared(column)).orNull
    read(column.dataType, JsonReads.unitOf(column, unit), rescue, known)
  }

  /** By the fields of a row, the types that a record's own schema names. */
  def typesOf(schema: ByteBuffer): Map[String, Named] = typesOf(tree(schema))

  /** The same of an event's row. */
  def eventTypes(schema: ByteBuffer): Map[String, Named] =
    parts(tree(schema).get("fields"))
      .filter(each => Set("before", "after")(text(each, "field")))
      .flatMap(typesOf(_))
      .toMap

  private def typesOf(struct: JsonNode): Map[String, Named] =
    parts(struct.get("fields")).flatMap(each => named(each).map(text(each, "field") -> _)).toMap

  private def tree(schema: ByteBuffer): JsonNode = new ObjectMapper().readTree(schema.array)

  private def named(schema: JsonNode): Option[Named] =
    Some(schema)
      .filter(_.hasNonNull("name"))
      .map(each => Named(text(each, "name"), scaleOf(each.get("parameters"))))

  /** What the struct's own metadata says of a field. */
  private def declared(field: StructField): Option[Named] =
    if (!field.metadata.contains("connect")) None
    else Some(Named(field.metadata.getString("connect"), field.metadata.getLong("scale").toInt))

  private def parts(list: JsonNode): Seq[JsonNode] =
    if (list == null) Seq.empty else list.elements.asScala.toSeq

  private def text(node: JsonNode, key: String): String =
    if (node.hasNonNull(key)) node.get(key).asText else ""

  private def scaleOf(parameters: JsonNode): Int =
    if (parameters == null) 0 else text(parameters, "scale").toIntOption.getOrElse(0)

  /** A number as a column has it: a Misfit where it has more digits, or other digits after the point. */
  private def fitted(number: BigDecimal, declared: DataType): Any = declared match {
    case column: DecimalType =>
      val least = number.stripTrailingZeros
      if (least.scale > column.scale || least.precision - least.scale > column.precision - column.scale)
        new Misfit(s"expected ${Misfit.words(declared)}, found ${Misfit.shortened(number.toPlainString)}")
      else Decimal(number.setScale(column.scale), column.precision, column.scale)
    case _ => UTF8String.fromString(number.toPlainString)
  }

  private def number(base64: String, scale: Int): BigDecimal =
    try UnscaledNumber.of(Base64.getDecoder.decode(base64), scale)
    catch { case _: IllegalArgumentException => null }

  /** Decimals as text, or as the base64 of their digits; or as numbers, where a converter says so. */
  private final class Digits(declared: DataType, scale: Int) extends Read(declared) {
    private val plain = JsonReads.of(declared, "", rescue = false)

    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.VALUE_STRING) plain(in)
      else
        number(in.getText, scale) match {
          case null => null
          case found => fitted(found, declared)
        }
  }

  /** Numbers, and objects of the base64 of their digits and of their scale. */
  private final class VariableDigits(declared: DataType) extends Read(declared) {
    private val plain = JsonReads.of(declared, "", rescue = false)
    private val parts = new StructType().add("scale", IntegerType).add("value", StringType)
    private val members = new JsonReads.Members(parts, "", rescue = false)

    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.START_OBJECT) plain(in)
      else {
        val row = Cells.row(parts.length)
        val misfit = members.fill(in, row)
        if (misfit != null) misfit
        else {
          val whole = !row.isNullAt(0) && !row.isNullAt(1)
          val found = if (whole) number(row.getUTF8String(1).toString, row.getInt(0)) else null
          if (found != null) fitted(found, declared)
          else new Misfit(s"expected ${Misfit.words(declared)}, found an object that is no decimal")
        }
      }
  }

  private final class TimeOfDay(declared: DataType, nanos: Long) extends Read(declared) {
    private val plain = JsonReads.of(declared, "", rescue = false)

    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.VALUE_NUMBER_INT || in.getTextLength > 15) plain(in)
      else TimesOfDay.of(in.getLongValue, nanos)
  }

  /** Texts such as 2026-01-02Z. */
  private final class IsoDays(declared: DataType) extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token == JsonToken.VALUE_STRING) JsonTimes.date(in.getText.stripSuffix("Z")) else null
  }
}
