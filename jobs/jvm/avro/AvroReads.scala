package sluice

import java.math.{BigDecimal, BigInteger}
import java.util.Arrays
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

/** Reads: bytes of a writer's schema as values of a reader's, in one pass that checks them too.
  *
  * What Avro's rules cannot read is a `Refused`: alone a misfit of every datum, as a type of a
  * writer's union one of the data that have it. Bytes that are not what they should be end the
  * record; a value that its column cannot hold is a Misfit in its place, as the bytes go on.
  */
private[sluice] object AvroReads {
  import AvroBytes.Cursor
  import AvroShapes.Shape

  abstract class Read { def apply(in: Cursor): Any }

  final class Refused(val path: String, val told: String) extends Read {
    def apply(in: Cursor): Any = throw new Misfit(told, path)
    def within(name: String): Refused = new Refused(Misfit.joined(name, path), told)
  }

  private def refused(writer: Schema, reader: Schema) =
    new Refused("", s"expected ${AvroTypes.told(reader)}, found ${AvroTypes.told(writer)}")

  /** `column` is what the reader's values become. */
  def of(writer: Schema, reader: Schema, column: DataType): Read =
    (writer.getType, reader.getType, column) match {
      case (Type.UNION, _, _) => ofUnion(writer.getTypes.asScala.map(of(_, reader, column)).toArray)
      case (_, Type.UNION, _) => intoUnion(writer, reader, column)
      case _ if !AvroTypes.alike(writer, reader) => refused(writer, reader)
      case (Type.RECORD, Type.RECORD, fields: StructType) if AvroTypes.sameName(writer, reader) =>
        AvroRecords.of(writer, reader, fields)
      case (Type.RECORD, Type.RECORD, StringType) if AvroTypes.sameName(writer, reader) =>
        if (reader.getProp("logicalType") == "sluice-decimal-text") AvroRecords.decimalText(writer, reader)
        else AvroJson.text(writer)
      case (Type.ARRAY, Type.ARRAY, array: ArrayType) =>
        of(writer.getElementType, reader.getElementType, array.elementType) match {
          case never: Refused => never.within("[]")
          case member => new Elements(member, AvroShapes.of(writer.getElementType))
        }
      case (Type.MAP, Type.MAP, map: MapType) =>
        of(writer.getValueType, reader.getValueType, map.valueType) match {
          case never: Refused => never.within("[]")
          case member => new Entries(member)
        }
      case (Type.ENUM, Type.ENUM, _) if AvroTypes.sameName(writer, reader) =>
        new Symbols(writer, reader)
      case (Type.FIXED, Type.FIXED, _)
          if AvroTypes.sameName(writer, reader) && writer.getFixedSize == reader.getFixedSize =>
        converted(bytesAs(reader, column, _ => reader.getFixedSize), reader)
      case _ =>
        ofScalar(writer.getType, reader, column) match {
          case None => refused(writer, reader)
          case Some(read) => converted(read, reader)
        }
    }

  private def converted(read: Read, reader: Schema): Read = AvroLogical.of(reader) match {
    case null => read
    case convert => in => convert(read(in))
  }

  private def ofScalar(writer: Type, reader: Schema, column: DataType): Option[Read] =
    Option((writer, reader.getType) match {
      case (Type.NULL, Type.NULL) => _ => null
      case (Type.BOOLEAN, Type.BOOLEAN) => in => in.boolean()
      case (Type.INT, Type.INT) => in => in.int()
      case (Type.INT, Type.LONG) => in => in.int().toLong
      case (Type.INT, Type.FLOAT) => in => exactFloat(in.int())
      case (Type.INT, Type.DOUBLE) => in => in.int().toDouble
      case (Type.LONG, Type.LONG) => in => in.long()
      case (Type.LONG, Type.FLOAT) => in => exactFloat(in.long())
      case (Type.LONG, Type.DOUBLE) => in => exactDouble(in.long())
      case (Type.FLOAT, Type.FLOAT) => in => in.float()
      case (Type.FLOAT, Type.DOUBLE) => in => in.float().toDouble
      case (Type.DOUBLE, Type.DOUBLE) => in => in.double()
      case (Type.STRING, Type.STRING) => in => in.text()
      case (Type.BYTES, Type.STRING) => in => in.bytesAsText()
      case (Type.BYTES | Type.STRING, Type.BYTES) => bytesAs(reader, column, in => in.long())
      case _ => null
    })

  // The largest long becomes 2^63, which no long is, and is cut to itself on the way back.
  private val Beyond = -Long.MinValue.toDouble

  private def exactFloat(number: Long): Float = {
    val found = number.toFloat
    if (found >= Beyond || found.toLong != number) throw rounded("FLOAT", number)
    found
  }

  private def exactDouble(number: Long): Double = {
    val found = number.toDouble
    if (found >= Beyond || found.toLong != number) throw rounded("DOUBLE", number)
    found
  }

  private def rounded(declared: String, number: Long) =
    new Misfit(s"expected a number that a $declared holds without rounding, found $number")

  /** Bytes, or the number that they are where the reader says so: a column may have fewer digits. */
  private def bytesAs(reader: Schema, column: DataType, length: Cursor => Long): Read =
    (reader.getLogicalType, column) match {
      case (_: LogicalTypes.Decimal, held: DecimalType) =>
        new Digits(held.precision, held.scale, length)
      case (decimal: LogicalTypes.Decimal, _) =>
        val digits = math.min(decimal.getPrecision, AvroJson.MostDigits)
        new Digits(digits, decimal.getScale, length, asText = true)
      case _ =>
        in =>
          val many = length(in)
          in.skip(many)
          Arrays.copyOfRange(in.bytes, in.at - many.toInt, in.at)
    }

  private final class Digits(
      precision: Int,
      scale: Int,
      length: Cursor => Long,
      asText: Boolean = false
  ) extends Read {
    // Fewer bytes than this hold no number of too many digits.
    private val tooLarge = BigInteger.TEN.pow(precision)
    private val few = (tooLarge.bitLength - 1) / 8

    def apply(in: Cursor): Any = {
      val many = length(in)
      in.skip(many)
      if (many == 0) throw new Misfit("expected a number, found no bytes")
      val number = new BigInteger(in.bytes, in.at - many.toInt, many.toInt)
      if (many > few && number.abs.compareTo(tooLarge) >= 0)
        throw new Misfit(s"expected DECIMAL($precision,$scale), found ${shown(number)}")
      if (asText) UTF8String.fromString(new BigDecimal(number, scale).toString)
      else if (precision <= Decimal.MAX_LONG_DIGITS) Decimal(number.longValue, precision, scale)
      else Decimal(new BigDecimal(number, scale), precision, scale)
    }

    private def shown(number: BigInteger): String =
      if (number.bitLength > 4096) s"a number of ${number.bitLength} bits"
      else Misfit.shortened(new BigDecimal(number, scale).toPlainString)
  }

  private final class Symbols(writer: Schema, reader: Schema) extends Read {
    private val theirs = writer.getEnumSymbols.asScala.toArray
    private val ours = theirs.map { each =>
      val known = if (reader.hasEnumSymbol(each)) each else reader.getEnumDefault
      if (known == null) null else UTF8String.fromString(known)
    }

    def apply(in: Cursor): Any = {
      val found = ours(in.place(ours.length, "of a symbol"))
      if (found != null) return found
      val symbols = reader.getEnumSymbols.asScala.mkString(", ")
      throw new Misfit(
        s"expected one of ${Misfit.shortened(symbols)}, found ${theirs(in.last)}"
      )
    }
  }

  private def ofUnion(members: Array[Read]): Read =
    if (members.nonEmpty && members.forall(_.isInstanceOf[Refused])) members(0)
    else in => members(in.place(members.length, "of a union's type"))(in)

  /** The type of a reader's union that a writer's is read as, and its column: in this place of the
    * union's struct, or `alone`.
    */
  final class Member(
      val read: Read,
      val schema: Schema,
      val column: StructField,
      val place: Int,
      val alone: Boolean
  )

  def member(writer: Schema, reader: Schema, column: DataType): Option[Member] = {
    val held = AvroTypes.toldApart(reader, column)
    val alone = held.length == 1
    // By their names: where a column takes one of them, it stands last.
    val (columns, named) = column match {
      case struct: StructType if !alone => (struct, (number: Int) => s"member$number")
      case one => (new StructType().add("", one), (_: Int) => "")
    }
    held.zipWithIndex
      .sortBy { case (each, _) => AvroTypes.rank(writer, each) }
      .map { case (each, number) =>
        val place = columns.fieldIndex(named(number))
        new Member(of(writer, each, columns(place).dataType), each, columns(place), place, alone)
      }
      .find(each => !each.read.isInstanceOf[Refused])
  }

  private def intoUnion(writer: Schema, reader: Schema, column: DataType): Read =
    if (writer.getType == Type.NULL)
      if (AvroTypes.mayBeNull(reader)) _ => null else refused(writer, reader)
    else
      member(writer, reader, column) match {
        case None => refused(writer, reader)
        case Some(member) if member.alone => member.read
        case Some(member) =>
          val (read, place, name) = (member.read, member.place, member.column.name)
          val width = AvroTypes.toldApart(reader, column).length
          in => {
            val row = Cells.row(width)
            read(in) match {
              case misfit: Misfit => misfit.within(name)
              case found =>
                row.update(place, found)
                row
            }
          }
      }

  private final class Elements(member: Read, shape: Shape) extends Read {
    def apply(in: Cursor): Any = {
      val found = new ArrayBuffer[Any]
      AvroShapes.members(in, shape.isEmpty, () => found += member(in))
      val values = found.toArray
      Misfit.first(values, place => s"[$place]") match {
        case null => new GenericArrayData(values)
        case misfit => misfit
      }
    }
  }

  private final class Entries(member: Read) extends Read {
    def apply(in: Cursor): Any = {
      // Of repeated names the last counts.
      val found = new java.util.LinkedHashMap[UTF8String, Any]
      AvroShapes.members(in, false, () => found.put(in.text(), member(in)))
      val keys = found.keySet.toArray.asInstanceOf[Array[Any]]
      val values = found.values.toArray.asInstanceOf[Array[Any]]
      Misfit.first(values, place => s"[${JsonText.quoted(keys(place).toString)}]") match {
        case null => new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values))
        case misfit => misfit
      }
    }
  }
}
