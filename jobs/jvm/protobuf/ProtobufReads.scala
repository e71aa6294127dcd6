package sluice

import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor}
import com.google.protobuf.Message
import java.util.{List => JavaList, TreeMap}
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Reads: a parsed message's values as a row has them.
  *
  * Protobuf's own parser judges the wire format. What it passes over in silence is a misfit: what
  * ProtobufStrangers finds, a number that is no name of its enum, and a required field without a
  * value. Fields with numbers that the message does not have are left out: newer writers add them.
  */
private[sluice] object ProtobufReads {

  /** From a value as the parser gives it. */
  type Read = Any => Any

  /** Messages that are read as their one field. */
  val Wrappers: Set[String] =
    Set("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
      .map(each => s"google.protobuf.${each}Value")

  /** The fields of a message that a struct has, by their names. */
  final class Fields(message: Descriptor, declared: StructType) {
    private val strangers = new ProtobufStrangers(message, declared)
    private val gets =
      declared.map(column => get(message.findFieldByName(column.name), column.dataType)).toArray

    /** As the first fields of a row. */
    def fill(found: Message, row: GenericInternalRow): Unit = {
      strangers.refuse(found)
      var place = 0
      try
        while (place < gets.length) {
          row.update(place, gets(place)(found))
          place += 1
        }
      catch { case misfit: Misfit => throw misfit.within(declared(place).name) }
    }

    def row(found: Any): GenericInternalRow = {
      val made = Cells.row(gets.length)
      fill(found.asInstanceOf[Message], made)
      made
    }
  }

  /** From a message: the field's value, null where it has none. */
  private def get(field: FieldDescriptor, declared: DataType): Message => Any = declared match {
    case map: MapType if field.isMapField => new Entries(field, map)
    case array: ArrayType if field.isRepeated => new Elements(field, value(field, array.elementType))
    case _ =>
      val read = value(field, declared)
      if (!field.hasPresence) found => read(found.getField(field))
      else
        found =>
          if (found.hasField(field)) read(found.getField(field))
          else if (!field.isRequired) null
          else throw new Misfit("expected a value, as it is required, found none")
  }

  private final class Elements(field: FieldDescriptor, element: Read) extends (Message => Any) {
    def apply(message: Message): Any = {
      val found = message.getField(field).asInstanceOf[JavaList[Any]].toArray
      var place = 0
      try
        while (place < found.length) {
          found(place) = element(found(place)).asInstanceOf[AnyRef]
          place += 1
        }
      catch { case misfit: Misfit => throw misfit.within(s"[$place]") }
      new GenericArrayData(found.asInstanceOf[Array[Any]])
    }
  }

  private final class Entries(field: FieldDescriptor, declared: MapType) extends (Message => Any) {
    private val entry = field.getMessageType
    private val strangers = ProtobufStrangers.ofEntry(entry, declared.valueType)
    private val (key, value) = (entry.findFieldByNumber(1), entry.findFieldByNumber(2))
    private val (name, member) = (ProtobufScalars.key(key), ProtobufReads.value(value, declared.valueType))

    /** Sorted, as writers have them in any order. Of a key that is repeated the last value counts. */
    def apply(message: Message): Any = {
      val entries = new TreeMap[UTF8String, Message]()
      message.getField(field).asInstanceOf[JavaList[Message]].forEach { each =>
        val found = name(each.getField(key))
        // Of each: with a key of another wire type it is none of those that a later one replaces.
        within(found)(strangers.refuse(each))
        entries.put(found, each)
      }
      val found = new TreeMap[UTF8String, Any]()
      entries.forEach { (name, each) =>
        found.put(name, within(name)(member(each.getField(value))))
      }
      ArrayBasedMapData(found, identity, identity)
    }

    private def within[Found](name: UTF8String)(read: => Found): Found =
      try read
      catch { case misfit: Misfit => throw misfit.within(JsonText.place(name.toString)) }
  }

  private def value(field: FieldDescriptor, declared: DataType): Read =
    if (field.getJavaType != FieldDescriptor.JavaType.MESSAGE) ProtobufScalars.of(field, declared)
    else {
      val message = field.getMessageType
      message.getFullName match {
        case "google.protobuf.Timestamp" => new ProtobufTimes(message).timestamp
        case "google.protobuf.Duration" => new ProtobufTimes(message).duration
        case name if ProtobufJson.Names(name) => new ProtobufJson(message.getFile).text
        case _ => ofMessage(message, declared)
      }
    }

  private def ofMessage(message: Descriptor, declared: DataType): Read =
    (ProtobufNamed.of(message, declared), declared) match {
      case (named, _) if named != null => named
      case (_, struct: StructType) => new Fields(message, struct).row
      case _ if message.getFields.isEmpty => _ => true
      case (_, wrapped) if Wrappers(message.getFullName) =>
        val only = new Fields(message, new StructType().add("value", wrapped))
        found => only.row(found).values(0)
      case _ => new ProtobufText(message).text
    }
}
