package sluice

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.sql.types._
import scala.jdk.CollectionConverters._

/** Types: what a reader's schema becomes in Spark, and which of its types a writer's is. */
private[sluice] object AvroTypes {

  def column(reader: Schema): DataType = reader.getType match {
    case Type.NULL => NullType
    case Type.BOOLEAN => BooleanType
    case Type.INT => IntegerType
    case Type.LONG => LongType
    case Type.FLOAT => FloatType
    case Type.DOUBLE => DoubleType
    case Type.STRING | Type.ENUM => StringType
    case Type.BYTES | Type.FIXED =>
      reader.getLogicalType match {
        case decimal: LogicalTypes.Decimal => DecimalType(decimal.getPrecision, decimal.getScale)
        case _ => BinaryType
      }
    case Type.ARRAY => ArrayType(column(reader.getElementType))
    case Type.MAP => MapType(StringType, column(reader.getValueType))
    case Type.RECORD => fields(reader)
    case Type.UNION =>
      toldApart(reader) match {
        case Seq() => NullType
        case Seq(one) => column(one)
        case several =>
          StructType(several.zipWithIndex.map { case (each, place) =>
            StructField(s"member$place", column(each))
          })
      }
  }

  def fields(record: Schema): StructType =
    StructType(record.getFields.asScala.map(each => StructField(each.name, column(each.schema))).toSeq)

  /** The types of a union that a column tells apart: two numbers of one kind are the wider. */
  def toldApart(union: Schema): Seq[Schema] = {
    val others = union.getTypes.asScala.filter(_.getType != Type.NULL).toSeq
    others.map(_.getType).toSet match {
      case kinds if kinds == Set(Type.INT, Type.LONG) => Seq(Schema.create(Type.LONG))
      case kinds if kinds == Set(Type.FLOAT, Type.DOUBLE) => Seq(Schema.create(Type.DOUBLE))
      case _ => others
    }
  }

  def mayBeNull(union: Schema): Boolean = union.getTypes.asScala.exists(_.getType == Type.NULL)

  def isNamed(found: Schema): Boolean = found.getType match {
    case Type.RECORD | Type.ENUM | Type.FIXED => true
    case _ => false
  }

  /** How far a type of a reader's union is from a writer's: the nearest that can be read is meant. */
  def rank(writer: Schema, member: Schema): Int =
    if (member.getType != writer.getType) 3
    else if (!isNamed(writer) || member.getFullName == writer.getFullName) 0
    else if (member.getAliases.contains(writer.getFullName)) 1
    else 2

  /** By Avro's specification name spaces do not count, but for aliases, which are full names. */
  def sameName(writer: Schema, reader: Schema): Boolean =
    writer.getName == reader.getName || reader.getAliases.contains(writer.getFullName)

  def told(found: Schema): String = found.getType match {
    case Type.UNION => found.getTypes.asScala.map(_.getFullName).mkString("[", ", ", "]")
    case Type.RECORD | Type.ENUM => s"${found.getType.getName} ${found.getFullName}"
    case Type.FIXED => s"fixed ${found.getFullName} of ${found.getFixedSize} bytes"
    case _ => found.getFullName
  }
}
