package sluice

import org.apache.avro.Schema
import org.apache.avro.Schema.Type
import org.apache.spark.sql.types.{DataType, LongType, StructType}
import scala.jdk.CollectionConverters._

/** Types: which of a reader's types a writer's is, and what errors call them. */
private[sluice] object AvroTypes {

  /** The types of a union that its column tells apart: two numbers of one kind are the wider. */
  def toldApart(union: Schema, column: DataType): Seq[Schema] = {
    val others = union.getTypes.asScala.filter(_.getType != Type.NULL).toSeq
    column match {
      case _ if others.length < 2 => others
      case _: StructType => others
      case LongType => Seq(Schema.create(Type.LONG))
      case _ => Seq(Schema.create(Type.DOUBLE))
    }
  }

  /** Whether a union of these and null is read as the wider of two numbers. */
  def areOneNumber(types: Set[Type]): Boolean =
    types == Set(Type.INT, Type.LONG) || types == Set(Type.FLOAT, Type.DOUBLE)

  def mayBeNull(union: Schema): Boolean = union.getTypes.asScala.exists(_.getType == Type.NULL)

  private def isNamed(found: Schema): Boolean = found.getType match {
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

  /** Whether a value means the same: one that says what it stands for may be read as one that does
    * not. Decimals of another precision have the same numbers.
    */
  def alike(writer: Schema, reader: Schema): Boolean = {
    val (theirs, ours) = (writer.getProp("logicalType"), reader.getProp("logicalType"))
    theirs == null || ours == null ||
    (theirs == ours && writer.getObjectProp("scale") == reader.getObjectProp("scale"))
  }

  def told(found: Schema): String = found.getType match {
    case Type.UNION => found.getTypes.asScala.map(_.getFullName).mkString("[", ", ", "]")
    case Type.RECORD | Type.ENUM => s"${found.getType.getName} ${found.getFullName}"
    case Type.FIXED => s"fixed ${found.getFullName} of ${found.getFixedSize} bytes"
    case _ => found.getFullName
  }
}
