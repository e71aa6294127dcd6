package sluice

import com.google.protobuf.ByteString
import com.google.protobuf.Descriptors.{EnumDescriptor, EnumValueDescriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import java.math.BigDecimal
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Scalars: a number, text, bytes or an enum's name as a column's value. */
private[sluice] object ProtobufScalars {
  import ProtobufReads.Read

  def of(field: FieldDescriptor, declared: DataType): Read = field.getType match {
    case Type.UINT32 | Type.FIXED32 =>
      found => java.lang.Integer.toUnsignedLong(found.asInstanceOf[Int])
    case Type.UINT64 | Type.FIXED64 =>
      found => Decimal(new BigDecimal(java.lang.Long.toUnsignedString(found.asInstanceOf[Long])), 20, 0)
    case Type.ENUM => new Names(field.getEnumType)
    case Type.BYTES if declared == StringType => text
    case Type.BYTES => found => found.asInstanceOf[ByteString].toByteArray
    case _ => identity
  }

  /** A map's key as text. */
  def key(field: FieldDescriptor): Any => UTF8String = field.getType match {
    case Type.BYTES =>
      found =>
        try text(found)
        catch { case misfit: Misfit => throw misfit.within("[…]") }
    case _ =>
      val number = of(field, LongType)
      found => UTF8String.fromString(number(found).toString)
  }

  /** The bytes, which must be UTF-8. */
  def text(found: Any): UTF8String = {
    val bytes = found.asInstanceOf[ByteString].toByteArray
    val text = UTF8String.fromBytes(bytes)
    if (text.isValid) text
    else {
      val shown = JsonText.shortened(JsonText.quoted(found.asInstanceOf[ByteString].toStringUtf8))
      throw new Misfit(s"expected STRING, found $shown")
    }
  }

  private final class Names(declared: EnumDescriptor) extends Read {
    // Of several names for one number, the first.
    private val known = declared.getValues.asScala.reverse
      .map(each => each.getNumber -> UTF8String.fromString(each.getName))
      .toMap

    def apply(found: Any): Any = {
      val number = found.asInstanceOf[EnumValueDescriptor].getNumber
      known.getOrElse(
        number,
        throw new Misfit(s"expected ${declared.getFullName}, found $number")
      )
    }
  }
}
