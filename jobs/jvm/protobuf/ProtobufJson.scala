package sluice

import com.fasterxml.jackson.core.io.NumberOutput
import com.google.protobuf.Descriptors.FileDescriptor
import com.google.protobuf.Message
import java.util.{List => JavaList, TreeMap}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** JSON: Protobuf's messages that hold any JSON value (google/protobuf/struct.proto), as its text.
  *
  * Names are sorted: they have no order. Whole numbers are written without a fraction.
  */
private[sluice] final class ProtobufJson(file: FileDescriptor) {
  private val fields = file.findMessageTypeByName("Struct").findFieldByName("fields")
  private val entry = fields.getMessageType
  private val (key, member) = (entry.findFieldByNumber(1), entry.findFieldByNumber(2))
  private val values = file.findMessageTypeByName("ListValue").findFieldByName("values")
  private val kinds = file.findMessageTypeByName("Value").getOneofs.get(0)
  // Its enum has one number, and what an enum does not have is a misfit.
  private val nulls =
    ProtobufScalars.of(kinds.getFields.asScala.find(_.getName == "null_value").get, StringType)
  private val strangers = Map(
    fields.getContainingType -> "fields MAP<STRING, STRING>",
    entry -> "key STRING, value STRING",
    values.getContainingType -> "values ARRAY<STRING>",
    kinds.getContainingType -> ProtobufJson.Kinds
  ).map { case (message, columns) =>
    message -> new ProtobufStrangers(message, StructType.fromDDL(columns))
  }

  def text(found: Any): Any = UTF8String.fromString(json(found.asInstanceOf[Message]))

  private def json(found: Message): String = {
    refuseStrangers(found)
    found.getDescriptorForType.getName match {
      case "Struct" => ofStruct(found)
      case "ListValue" =>
        val members = found.getField(values).asInstanceOf[JavaList[Message]]
        members.asScala.map(json).mkString("[", ",", "]")
      case _ => ofValue(found)
    }
  }

  private def refuseStrangers(found: Message): Unit =
    strangers(found.getDescriptorForType).refuse(found)

  private def ofStruct(found: Message): String = {
    val members = new TreeMap[UTF8String, Message]()
    found.getField(fields).asInstanceOf[JavaList[Message]].forEach { each =>
      refuseStrangers(each)
      val value = each.getField(member).asInstanceOf[Message]
      members.put(ProtobufScalars.text(each.getField(key)), value)
    }
    members.asScala
      .map { case (name, each) => s"${JsonText.quoted(name.toString)}:${json(each)}" }
      .mkString("{", ",", "}")
  }

  private def ofValue(found: Message): String = {
    val field = found.getOneofFieldDescriptor(kinds)
    if (field == null) "null"
    else
      (field.getName, found.getField(field)) match {
        case ("null_value", found) =>
          nulls(found)
          "null"
        case ("number_value", number: Double) => ProtobufJson.number(number)
        case ("string_value", text) => JsonText.quoted(ProtobufScalars.text(text).toString)
        case ("bool_value", truth) => truth.toString
        case (_, nested) => json(nested.asInstanceOf[Message])
      }
  }
}

private[sluice] object ProtobufJson {
  val Names: Set[String] = Set("Struct", "Value", "ListValue").map("google.protobuf." + _)

  private val Kinds = "null_value STRING, number_value DOUBLE, string_value STRING," +
    " bool_value BOOLEAN, struct_value STRING, list_value STRING"

  // Below it, each whole number is one double.
  private val Exact = (1L << 53).toDouble

  /** The shortest text that is this number: before Java 19, Java's own is not. */
  def number(found: Double): String =
    if (found.isNaN || found.isInfinite)
      throw new Misfit(s"expected a number that JSON has, found $found")
    else if (found.isWhole && found.abs < Exact) found.toLong.toString
    else NumberOutput.toString(found, true)

  /** The shortest text among floats. */
  def number(found: Float): String =
    if (found.isWhole && found.abs < Exact) found.toLong.toString
    else NumberOutput.toString(found, true)
}
