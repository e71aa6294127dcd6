package sluice

import com.google.protobuf.{CodedInputStream, InvalidProtocolBufferException}
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.Type
import com.google.protobuf.WireFormat._

/** Numbers of several bytes on the wire: at most 5 bytes of a tag or a length, and 10 of a value,
  * and in a field of 32 bits no number of more.
  *
  * Java's parser cuts longer ones, and goes on with another field or number; C's refuses them, but
  * cuts what a field is too small for as well.
  */
private[sluice] object ProtobufNumbers {
  private val Short = 5
  private val Whole = 10
  // Each byte but the last says that another one follows: so many do in all that is too long.
  private val Following = Short - 1

  /** Throws an InvalidProtocolBufferException. The bytes have been parsed before. */
  def check(bytes: Array[Byte], start: Int, message: Descriptor): Unit =
    if (mayBeLong(bytes, start))
      walk(CodedInputStream.newInstance(bytes, start, bytes.length - start), message)

  private def mayBeLong(bytes: Array[Byte], start: Int): Boolean = {
    var (at, run) = (start, 0)
    while (at < bytes.length && run < Following) {
      run = if (bytes(at) < 0) run + 1 else 0
      at += 1
    }
    run == Following
  }

  /** To the end of the message, or of the group. What is in an unknown field is not known. */
  private def walk(in: CodedInputStream, message: Descriptor): Unit = {
    var within = true
    while (within && !in.isAtEnd) {
      val tag = short(in)
      val field = if (message == null) null else message.findFieldByNumber(getTagFieldNumber(tag))
      getTagWireType(tag) match {
        case WIRETYPE_VARINT => value(in, field)
        case WIRETYPE_LENGTH_DELIMITED => delimited(in, field)
        case WIRETYPE_START_GROUP => walk(in, if (isMessage(field)) field.getMessageType else null)
        case WIRETYPE_END_GROUP => within = false
        case _ => in.skipField(tag)
      }
    }
  }

  private def delimited(in: CodedInputStream, field: FieldDescriptor): Unit = {
    val length = short(in)
    if (isMessage(field)) {
      val limit = in.pushLimit(length)
      walk(in, field.getMessageType)
      in.popLimit(limit)
    } else if (field != null && field.isPackable && field.getLiteType.getWireType == WIRETYPE_VARINT) {
      val limit = in.pushLimit(length)
      while (!in.isAtEnd) value(in, field)
      in.popLimit(limit)
    } else in.skipRawBytes(length)
  }

  private def value(in: CodedInputStream, field: FieldDescriptor): Unit = {
    val found = number(in, Whole)
    if (field != null) {
      val fits = field.getType match {
        case Type.INT32 | Type.ENUM => found == found.toInt
        case Type.UINT32 | Type.SINT32 => (found >>> 32) == 0
        case _ => true
      }
      if (!fits) throw tooLong(s"one of more than 32 bits in ${field.getName}")
    }
  }

  private def isMessage(field: FieldDescriptor): Boolean =
    field != null && field.getJavaType == FieldDescriptor.JavaType.MESSAGE

  private def short(in: CodedInputStream): Int = {
    val found = number(in, Short)
    if ((found >>> 32) != 0) throw tooLong("one of more than 32 bits")
    found.toInt
  }

  private def number(in: CodedInputStream, most: Int): Long = {
    var (found, count, byte) = (0L, 0, in.readRawByte())
    while (byte < 0 && count < most - 1) {
      found |= (byte & 0x7fL) << (7 * count)
      count += 1
      byte = in.readRawByte()
    }
    if (byte < 0) throw tooLong(s"one of more than $most bytes")
    found | byte.toLong << (7 * count)
  }

  private def tooLong(found: String) =
    new InvalidProtocolBufferException(s"expected a number of the wire format, found $found")
}
