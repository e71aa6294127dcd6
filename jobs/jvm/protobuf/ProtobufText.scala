package sluice

import com.google.protobuf.{ByteString, Message}
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import java.lang.{StringBuilder => Text}
import java.util.{Base64, List => JavaList, TreeMap}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Text: a message that is within itself, as JSON's text.
  *
  * As Protobuf's own JSON, but for the names, which are those of the fields, and for whole numbers
  * of 64 bits, which are numbers. What is unset, and a default that is as unset, is left out.
  */
private[sluice] final class ProtobufText(message: Descriptor) {
  import ProtobufText._

  private val written = reachable(message).map(each => each -> new Members(each)).toMap

  def text(found: Any): Any = {
    val out = new Text
    write(message, found.asInstanceOf[Message], out)
    UTF8String.fromString(out.toString)
  }

  private def write(described: Descriptor, found: Message, out: Text): Unit =
    written(described).write(found, out)

  private final class Members(described: Descriptor) {
    private val fields = described.getFields.asScala.sortBy(_.getNumber).toArray
    private val strangers = new ProtobufStrangers(
      described,
      StructType(fields.toSeq.map(each => StructField(each.getName, shown(each))))
    )
    private val writes = fields.map(member)
    private val holdMessages = fields.map(holdsMessages)

    def write(found: Message, out: Text): Unit = {
      strangers.refuse(found)
      out.append('{')
      var (place, first) = (0, true)
      while (place < fields.length) {
        val field = fields(place)
        if (isSet(field, found))
          within(field.getName) {
            val before = out.length
            if (!first) out.append(',')
            first = false
            out.append('"').append(field.getName).append("\":")
            val ofItself = out.length - before
            writes(place)(found.getField(field), out)
            Cells.take((if (holdMessages(place)) ofItself else out.length - before) / CharactersOfACell)
          }
        place += 1
      }
      out.append('}')
    }
  }

  private def member(field: FieldDescriptor): Write =
    if (field.isMapField) entries(field)
    else if (!field.isRepeated) value(field)
    else {
      val element = value(field)
      (found, out) => {
        var place = 0
        out.append('[')
        found.asInstanceOf[JavaList[Any]].forEach { each =>
          if (place > 0) out.append(',')
          within(s"[$place]")(element(each, out))
          place += 1
        }
        out.append(']')
      }
    }

  private def entries(field: FieldDescriptor): Write = {
    val entry = field.getMessageType
    val (key, value) = (entry.findFieldByNumber(1), entry.findFieldByNumber(2))
    val strangers = ProtobufStrangers.ofEntry(entry, shown(value))
    val (name, member) = (ProtobufScalars.key(key), this.value(value))
    (found, out) => {
      val sorted = new TreeMap[UTF8String, Message]()
      found.asInstanceOf[JavaList[Message]].forEach { each =>
        val known = name(each.getField(key))
        within(JsonText.place(known.toString))(strangers.refuse(each))
        sorted.put(known, each)
      }
      var separator = '{'
      sorted.forEach { (known, each) =>
        out.append(separator).append(JsonText.quoted(known.toString)).append(':')
        within(JsonText.place(known.toString))(member(each.getField(value), out))
        separator = ','
      }
      out.append(if (sorted.isEmpty) "{}" else "}")
    }
  }

  private def value(field: FieldDescriptor): Write =
    if (isMessage(field)) ofMessage(field.getMessageType)
    else {
      val read = ProtobufScalars.of(field, shownOfOne(field))
      field.getType match {
        case Type.FLOAT | Type.DOUBLE =>
          (found, out) => out.append(number(found.asInstanceOf[Number]))
        case Type.BYTES if !ProtobufFiles.isText(field) =>
          (found, out) =>
            val bytes = found.asInstanceOf[ByteString].toByteArray
            out.append('"').append(Base64.getEncoder.encodeToString(bytes)).append('"')
        case Type.BYTES | Type.ENUM =>
          (found, out) => out.append(JsonText.quoted(read(found).toString))
        case _ => (found, out) => out.append(read(found))
      }
    }

  private def ofMessage(described: Descriptor): Write = described.getFullName match {
    case "google.protobuf.Timestamp" =>
      val times = new ProtobufTimes(described)
      (found, out) => out.append('"').append(times.instant(found)).append('"')
    case "google.protobuf.Duration" =>
      val times = new ProtobufTimes(described)
      (found, out) => out.append('"').append(times.seconds(found).toPlainString).append("s\"")
    case name if ProtobufJson.Names(name) =>
      val json = new ProtobufJson(described.getFile)
      (found, out) => out.append(json.text(found))
    case name if ProtobufReads.Wrappers(name) =>
      val (only, strangers) = (described.getFields.get(0), wrapped(described))
      val write = value(only)
      (found, out) => {
        val wrapper = found.asInstanceOf[Message]
        strangers.refuse(wrapper)
        within(only.getName)(write(wrapper.getField(only), out))
      }
    case _ => (found, out) => write(described, found.asInstanceOf[Message], out)
  }
}

private object ProtobufText {
  type Write = (Any, Text) => Unit

  // A place of a struct is a reference.
  private val CharactersOfACell = 8
  private val Own = ProtobufReads.Wrappers ++ ProtobufJson.Names ++
    Set("google.protobuf.Timestamp", "google.protobuf.Duration")

  /** The messages that are written member by member. */
  private def reachable(message: Descriptor): Set[Descriptor] = {
    def add(known: Set[Descriptor], each: Descriptor): Set[Descriptor] =
      if (known(each) || Own(each.getFullName)) known
      else
        each.getFields.asScala
          .filter(isMessage)
          .map(_.getMessageType)
          .foldLeft(known + each)(add)
    add(Set.empty, message)
  }

  private def isMessage(field: FieldDescriptor) =
    field.getJavaType == FieldDescriptor.JavaType.MESSAGE

  /** What is in these counts for itself. */
  private def holdsMessages(field: FieldDescriptor): Boolean =
    isMessage(if (field.isMapField) field.getMessageType.findFieldByNumber(2) else field)

  private def wrapped(message: Descriptor) =
    new ProtobufStrangers(message, new StructType().add("value", shown(message.getFields.get(0))))

  /** The type that errors name, without what is within it. */
  private def shown(field: FieldDescriptor): DataType =
    if (field.isRepeated) ArrayType(shownOfOne(field)) else shownOfOne(field)

  private def shownOfOne(field: FieldDescriptor): DataType =
    field.getType match {
      case Type.FLOAT => FloatType
      case Type.DOUBLE => DoubleType
      case Type.BOOL => BooleanType
      case Type.BYTES if !ProtobufFiles.isText(field) => BinaryType
      case Type.BYTES | Type.ENUM => StringType
      case Type.MESSAGE | Type.GROUP => new StructType()
      case Type.UINT64 | Type.FIXED64 => DecimalType(20, 0)
      case Type.INT32 | Type.SINT32 | Type.SFIXED32 => IntegerType
      case _ => LongType
    }

  private def isSet(field: FieldDescriptor, found: Message): Boolean =
    if (field.isRepeated) found.getRepeatedFieldCount(field) > 0
    else if (field.hasPresence) {
      val set = found.hasField(field)
      if (field.isRequired && !set)
        throw new Misfit("expected a value, as it is required, found none").within(field.getName)
      set
    } else found.getField(field) != field.getDefaultValue

  /** What JSON has no number for is text, as in Protobuf's own JSON. */
  private def number(found: Number): String = {
    val wide = found.doubleValue
    if (wide.isNaN || wide.isInfinite) s"\"$wide\""
    else
      found match {
        case narrow: java.lang.Float => ProtobufJson.number(narrow)
        case _ => ProtobufJson.number(wide)
      }
  }

  private def within[Found](name: String)(write: => Found): Found =
    try write
    catch { case misfit: Misfit => throw misfit.within(name) }
}
