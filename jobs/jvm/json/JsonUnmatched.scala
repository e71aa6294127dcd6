package sluice

import com.fasterxml.jackson.core.JsonToken
import org.apache.spark.sql.types.StructType
import scala.collection.mutable.ArrayBuffer

/** Unmatched: an object that has none of the fields, whose row would be nulls only. */
private[sluice] object JsonUnmatched {
  /** What becomes of one: it is a row, it is none, or it is a row beside what it lacks. */
  val Lands = "lands"
  val Apart = "apart"

  private val Named = 5

  /** The fields that were expected, and the names of the object that bytes begin with. */
  def told(declared: StructType, bytes: Array[Byte]): String =
    s"expected one of the declared fields (${listed(fields(declared))}), found ${shown(bytes)}"

  /** The field that leads to the record, and the names of an object that has it not. */
  def told(field: String, bytes: Array[Byte]): String =
    s"expected the field ${listed(Seq(field))}, where the record is, found ${shown(bytes)}"

  /** Which of the first fields of an object holds another one as text; empty if none does. */
  def hint(bytes: Array[Byte]): String = {
    val first = names(bytes).take(Named)
    first.find(each => JsonPlace.holdsObject(JsonPlace.member(bytes, each))) match {
      case Some(each) => s"; ${listed(Seq(each))} holds an object as text: `at` in `format` reads it"
      case None => ""
    }
  }

  private def shown(bytes: Array[Byte]): String = {
    val found = names(bytes)
    if (found.isEmpty) "an object without fields" else listed(found)
  }

  /** A struct that is only on the way to fields is none: each of these is named with its way. */
  private def fields(declared: StructType): Seq[String] = declared.flatMap { each =>
    each.dataType match {
      case within: StructType if each.metadata.contains("way") =>
        fields(within).map(Misfit.joined(each.name, _))
      case _ => Seq(each.name)
    }
  }

  /** The names of an object's members, each once. */
  def names(bytes: Array[Byte]): Seq[String] = {
    val in = JsonText.parser(bytes)
    val found = ArrayBuffer.empty[String]
    in.nextToken()
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      found += in.currentName
      in.nextToken()
      in.skipChildren()
    }
    found.toSeq.distinct
  }

  /** Without what no line can hold: such characters as JSON escapes them. */
  private def plain(name: String): String =
    if (name.exists(_ < ' ')) JsonText.quoted(name).drop(1).dropRight(1) else name

  def listed(names: Seq[String]): String = {
    val more = if (names.length > Named) ", …" else ""
    names.take(Named).map(each => Misfit.shortened(plain(each))).mkString(", ") + more
  }
}
