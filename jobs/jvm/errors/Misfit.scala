package sluice

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}
import scala.util.control.NoStackTrace

/** Where a record leaves its schema, what was expected there, and what was found. */
private[sluice] final class Misfit(val text: String, path: String = "")
    extends Exception
    with NoStackTrace {

  /** The same, seen from what holds it: a field's name, or a place in brackets. */
  def within(name: String): Misfit = new Misfit(text, Misfit.joined(name, path))

  /** The same of bytes that begin as a kind of value that is read otherwise; `kind` may be empty. */
  def hinted(kind: String): Misfit =
    if (kind.isEmpty) this else new Misfit(s"$text (the value begins like $kind)", path)

  def told: String = if (path.isEmpty) text else s"$path: $text"
}

private[sluice] object Misfit {
  private val Most = 100

  /** The first of values that is one, seen from what holds them; null where all fit. */
  def first(values: Array[Any], name: Int => String): Misfit = {
    var place = 0
    while (place < values.length && !values(place).isInstanceOf[Misfit]) place += 1
    if (place == values.length) null else values(place).asInstanceOf[Misfit].within(name(place))
  }

  def joined(name: String, path: String): String =
    if (path.isEmpty || path.startsWith("[")) name + path else s"$name.$path"

  /** The type as a spec names it, but structs only by that word: their fields have own errors. */
  def words(declared: DataType): String = declared match {
    case _: StructType => "STRUCT"
    case array: ArrayType => s"ARRAY<${words(array.elementType)}>"
    case map: MapType => s"MAP<STRING, ${words(map.valueType)}>"
    case scalar => scalar.simpleString.toUpperCase
  }

  def shortened(text: String): String = if (text.length > Most) text.take(Most) + "…" else text
}
