package sluice

import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor}
import com.google.protobuf.{Message, UnknownFieldSet}
import org.apache.spark.sql.types.{DataType, StringType, StructField, StructType}

/** Strangers: values of a message's own fields that the parser has put among the unknown ones, as
  * they are of another wire type, or numbers that a closed enum does not have.
  */
private[sluice] final class ProtobufStrangers private (fields: Seq[(FieldDescriptor, StructField)]) {

  /** Of the fields that have a column, by their names. */
  def this(message: Descriptor, declared: StructType) =
    this(declared.map(column => message.findFieldByName(column.name) -> column))

  def refuse(found: Message): Unit = {
    val unknown = found.getUnknownFields
    if (!unknown.isEmpty)
      fields.find { case (field, _) => unknown.hasField(field.getNumber) }.foreach {
        case (field, column) =>
          val expected = Misfit.words(column.dataType)
          throw misfit(field, expected, unknown.getField(field.getNumber)).within(column.name)
      }
  }

  private def misfit(field: FieldDescriptor, expected: String, found: UnknownFieldSet.Field) =
    if (field.getType == FieldDescriptor.Type.ENUM && !found.getVarintList.isEmpty)
      new Misfit(s"expected ${field.getEnumType.getFullName}, found ${found.getVarintList.get(0)}")
    else new Misfit(s"expected $expected, found a value of wire type ${wireType(found)}")

  private def wireType(found: UnknownFieldSet.Field): Int =
    if (!found.getVarintList.isEmpty) 0
    else if (!found.getFixed64List.isEmpty) 1
    else if (!found.getLengthDelimitedList.isEmpty) 2
    else if (!found.getGroupList.isEmpty) 3
    else 5
}

private[sluice] object ProtobufStrangers {

  /** Of a map's entry. In a path, a value has the name that its key is. */
  def ofEntry(entry: Descriptor, value: DataType): ProtobufStrangers = {
    val columns = Seq(StructField("", StringType), StructField("", value))
    new ProtobufStrangers(Seq(entry.findFieldByNumber(1), entry.findFieldByNumber(2)).zip(columns))
  }
}
