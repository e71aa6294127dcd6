package sluice

import java.io.ByteArrayOutputStream
import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericDatumWriter}
import org.apache.avro.io.EncoderFactory
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{BinaryType, DataType, IntegerType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Records: the reader's fields in their places, the writer's other fields passed over. */
private[sluice] object AvroRecords {
  import AvroReads.{Read, Refused}
  import AvroBytes.Cursor
  import AvroShapes.Shape

  /** The reader's fields that have a column: others are not read. */
  private def read(reader: Schema, declared: StructType): Array[Schema.Field] = {
    val names = declared.fieldNames.toSet
    reader.getFields.asScala.filter(each => names(each.name)).toArray
  }

  /** For each column the place of the writer's field that it is read from; -1 without one. */
  def sources(writer: Schema, reader: Schema, declared: StructType): Array[Int] = {
    val theirs = writer.getFields.asScala.toArray
    // One field is read as one: of two that mean it, the second has its default.
    val fields = read(reader, declared)
    val meant = fields.map(counterpart(_, theirs))
    val first = meant.indices.map(n => if (meant.indexOf(meant(n)) < n) -1 else meant(n))
    declared.fieldNames.map(fields.map(_.name).zip(first).toMap)
  }

  def of(writer: Schema, reader: Schema, declared: StructType): Read = {
    val fields = declared.fieldNames.map(reader.getField)
    val theirs = writer.getFields.asScala.toArray
    val sources = this.sources(writer, reader, declared)
    val reads = fields.indices.map { place =>
      val column = declared(place).dataType
      val read =
        if (sources(place) < 0) missing(fields(place), column)
        else AvroReads.of(theirs(sources(place)).schema, fields(place).schema, column)
      read match {
        case never: Refused => never.within(fields(place).name)
        case other => other
      }
    }.toArray
    reads.collectFirst { case never: Refused => never }.getOrElse {
      val targets = theirs.indices.map(sources.indexOf(_)).toArray
      new Fields(
        theirs.indices.map(n => if (targets(n) < 0) theirs(n).name else fields(targets(n)).name).toArray,
        targets,
        targets.map(each => if (each < 0) null else reads(each)),
        theirs.map(each => AvroShapes.of(each.schema)),
        fields.indices.map(each => if (sources(each) < 0) reads(each)(Nothing) else null).toArray,
        declared.fieldNames
      )
    }
  }

  private val Decimal = new StructType().add("scale", IntegerType).add("value", BinaryType)

  /** A number with a scale of its own, with all its digits. */
  def decimalText(writer: Schema, reader: Schema): Read = of(writer, reader, Decimal) match {
    case never: Refused => never
    case read =>
      in =>
        read(in) match {
          case row: GenericInternalRow =>
            UnscaledNumber.of(row.getBinary(1), row.getInt(0)) match {
              case null => new Misfit("expected a decimal, found no digits, or far too many")
              case number => UTF8String.fromString(number.toPlainString)
            }
          case misfit => misfit
        }
  }

  private val Nothing = new Cursor(Array.emptyByteArray, 0)

  /** The place of the writer's field of the name, or of one of the aliases; -1 without. */
  private def counterpart(field: Schema.Field, theirs: Array[Schema.Field]): Int =
    (field.name +: field.aliases.asScala.toSeq)
      .map(name => theirs.indexWhere(_.name == name))
      .find(_ >= 0)
      .getOrElse(-1)

  /** A field's default, as what stands in the bytes of no record. */
  private def missing(field: Schema.Field, column: DataType): Read = {
    if (!field.hasDefaultValue)
      return new Refused("", "the writer's schema has no such field, and it has no default")
    val bytes = new ByteArrayOutputStream
    val encoder = EncoderFactory.get().binaryEncoder(bytes, null)
    new GenericDatumWriter[Any](field.schema)
      .write(GenericData.get().getDefaultValue(field), encoder)
    encoder.flush()
    val value = AvroReads.of(field.schema, field.schema, column)(new Cursor(bytes.toByteArray, 0))
    _ => value
  }

  final class Fields(
      names: Array[String],
      targets: Array[Int],
      reads: Array[Read],
      shapes: Array[Shape],
      defaults: Array[Any],
      columns: Array[String]
  ) extends Read {
    private val anyDefault = defaults.exists(_ != null)
    private val defaultsFit = !defaults.exists(_.isInstanceOf[Misfit])

    /** Into a row that may have more places than these: the row, or the first field's misfit. */
    def fill(in: Cursor, row: GenericInternalRow): Any = {
      if (anyDefault) System.arraycopy(defaults, 0, row.values, 0, defaults.length)
      var fits = defaultsFit
      var place = 0
      try {
        while (place < reads.length) {
          val read = reads(place)
          if (read == null) shapes(place).walk(in)
          else {
            val found = read(in)
            if (found.isInstanceOf[Misfit]) fits = false
            row.update(targets(place), found)
          }
          place += 1
        }
      } catch { case misfit: Misfit => throw misfit.within(names(place)) }
      if (fits) row else Misfit.first(row.values, columns(_))
    }

    def apply(in: Cursor): Any = fill(in, Cells.row(defaults.length))
  }
}
