package sluice

import com.fasterxml.jackson.core.JsonToken
import org.apache.spark.sql.types.StructType
import scala.collection.mutable.LinkedHashMap

/** Unmatched: an object that has none of the fields, whose row would be nulls only. */
private[sluice] object JsonUnmatched {
  /** What becomes of one: it is a row, it is none, or it is a row beside what it lacks. */
  val Lands = "lands"
  val Apart = "apart"

  private val Named = 5

  /** The fields that were expected, and the names of the object that bytes begin with. */
  def told(declared: StructType, bytes: Array[Byte]): String = told(declared, members(bytes))

  /** The same, and which of the first members holds an object as text, if any does. */
  def hinted(declared: StructType, bytes: Array[Byte]): String = {
    val found = members(bytes)
    val hint = found.take(Named).collectFirst { case (name, true) =>
      s"; ${listed(Seq(name))} holds an object as text: `at` in `format` reads it"
    }
    told(declared, found) + hint.getOrElse("")
  }

  /** The field that leads to the record, and the names of an object that has it not. */
  def told(field: String, bytes: Array[Byte]): String =
    s"expected the field ${listed(Seq(field))}, where the record is, found ${shown(names(bytes))}"

  private def told(declared: StructType, found: Members): String = {
    val expected = listed(fields(declared))
    s"expected one of the declared fields ($expected), found ${shown(found.keys.toSeq)}"
  }

  private def shown(names: Seq[String]): String =
    if (names.isEmpty) "an object without fields" else listed(names)

  /** A struct that is only on the way to fields is none: each of these is named with its way. Few are
    * shown, of records as many as are of another kind.
    */
  private def fields(declared: StructType): Seq[String] =
    declared.to(LazyList).flatMap { each =>
      each.dataType match {
        case within: StructType if each.metadata.contains("way") =>
          fields(within).map(Misfit.joined(each.name, _))
        case _ => Seq(each.name)
      }
    }

  /** The names of an object's members, each once. */
  def names(bytes: Array[Byte]): Seq[String] = members(bytes).keys.toSeq

  /** An object's members by their names, and whether it is one of the first that holds an object as
    * text. Of a name that is repeated the last one counts.
    */
  private type Members = LinkedHashMap[String, Boolean]

  private def members(bytes: Array[Byte]): Members = {
    val in = JsonText.parser(bytes)
    val found = new Members
    in.nextToken()
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      val name = in.currentName
      val isText = in.nextToken() == JsonToken.VALUE_STRING
      val isLooked = isText && (found.size < Named || found.contains(name))
      found(name) = isLooked && JsonPlace.holdsObject(JsonText.part(in, bytes))
      in.skipChildren()
    }
    found
  }

  /** Without what no line can hold: such characters as JSON escapes them. */
  private def plain(name: String): String =
    if (name.exists(_ < ' ')) JsonText.quoted(name).drop(1).dropRight(1) else name

  def listed(names: Seq[String]): String = {
    val more = if (names.sizeIs > Named) ", …" else ""
    names.take(Named).map(each => Misfit.shortened(plain(each))).mkString(", ") + more
  }
}
