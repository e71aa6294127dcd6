package sluice

import com.google.protobuf.DescriptorProtos.{DescriptorProto, FieldDescriptorProto}
import com.google.protobuf.DescriptorProtos.{FileDescriptorProto, FileDescriptorSet}
import com.google.protobuf.DescriptorProtos.FieldOptions.CType
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor, FileDescriptor}
import java.util.Base64
import scala.jdk.CollectionConverters._

/** Files: the message that a descriptor set describes. */
private[sluice] object ProtobufFiles {

  /** `files` are in base64, each after those that it imports. */
  def message(files: String, name: String): Descriptor = {
    val found = FileDescriptorSet.parseFrom(Base64.getDecoder.decode(files))
    val built = found.getFileList.asScala.foldLeft(Map.empty[String, FileDescriptor]) {
      (known, file) =>
        val needed = file.getDependencyList.asScala.map(known).toArray
        known + (file.getName -> FileDescriptor.buildFrom(withTextAsBytes(file), needed))
    }
    built.values
      .flatMap(file => all(file.getMessageTypes.asScala.toSeq))
      .find(_.getFullName == name)
      .getOrElse(throw new IllegalArgumentException(s"sluice_protobuf: no message $name"))
  }

  private def all(messages: Seq[Descriptor]): Seq[Descriptor] =
    messages.flatMap(each => each +: all(each.getNestedTypes.asScala.toSeq))

  /** Text is parsed as bytes, which are the same on the wire: of text that is not UTF-8 the parser
    * would not say in which field it is, and in proto2 it would replace what it cannot read.
    */
  private def withTextAsBytes(file: FileDescriptorProto): FileDescriptorProto = {
    val made = file.toBuilder
    made.getMessageTypeBuilderList.forEach(withTextAsBytes(_))
    made.build()
  }

  private def withTextAsBytes(message: DescriptorProto.Builder): Unit = {
    message.getNestedTypeBuilderList.forEach(withTextAsBytes(_))
    message.getFieldBuilderList.forEach { field =>
      val isText = field.getType == FieldDescriptorProto.Type.TYPE_STRING
      // A default is not read, and not each text is one of bytes.
      if (isText) field.setType(FieldDescriptorProto.Type.TYPE_BYTES).clearDefaultValue()
      field.getOptionsBuilder.setCtype(if (isText) OfText else CType.STRING)
    }
  }

  // How C++ keeps a field: nobody asks here, so that it can say which bytes are text.
  private val OfText = CType.STRING_PIECE

  /** Whether a field of bytes is one of text. */
  def isText(field: FieldDescriptor): Boolean = field.getOptions.getCtype == OfText
}
