package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import java.util.{HashMap, LinkedHashMap}
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

/** Reads: a JSON value as a column's, in one pass that goes on to the value's end whatever it is.
  *
  * A value that does not fit is a `Misfit` in its place: of repeated names only the last one counts.
  */
private[sluice] object JsonReads {

  /** The value that begins at the parser's token; afterwards the parser is at its last one. */
  abstract class Read(declared: DataType) {
    private val expected = s"expected ${Misfit.words(declared)}, found "

    /** Null where the token begins no value of the type. Nothing else may have been read then. */
    protected def value(in: JsonParser, token: JsonToken): Any

    protected var left: String = null
    protected var met: Boolean = false

    /** JSON text of what the last value had and no field declares, where it is asked for; or null. */
    final def rest: String = left

    /** Whether the last value was an object with any of the fields. */
    final def matched: Boolean = met

    final def apply(in: JsonParser): Any = {
      left = null
      met = false
      val token = in.currentToken()
      if (token == JsonToken.VALUE_NULL) null
      else {
        val found = value(in, token)
        if (found == null) new Misfit(expected + JsonText.shortened(JsonText.of(in))) else found
      }
    }
  }

  def of(declared: DataType, unit: String, rescue: Boolean): Read = declared match {
    case struct: StructType => new Struct(struct, new Members(struct, unit, rescue))
    case array: ArrayType => new Elements(array, of(array.elementType, unit, rescue))
    case map: MapType => new Entries(map, of(map.valueType, unit, rescue))
    case VariantType => new JsonVariant
    case scalar => JsonScalars.of(scalar, unit)
  }

  def unitOf(field: StructField, unit: String): String =
    if (field.metadata.contains("unit")) field.metadata.getString("unit") else unit

  /** The members of an object, as the first fields of a row; with `rescue` also what these leave.
    *
    * A field may have a `unit` of its own. What is only on the `way` to a field is none by itself.
    */
  final class Members(declared: StructType, reads: Array[Read], rescue: Boolean) {
    def this(declared: StructType, unit: String, rescue: Boolean) = this(
      declared,
      declared.map(each => of(each.dataType, unitOf(each, unit), rescue)).toArray,
      rescue
    )

    private val ways = declared.indices.filter(declared(_).metadata.contains("way")).toArray
    private val isField = declared.indices.map(!ways.contains(_)).toArray
    private val places = new HashMap[String, Integer]()
    private var met = false
    private var left: String = null

    /** Whether the last object had any of the fields. */
    def matched: Boolean = met

    /** The text of an object with all that the last one had and no field declares; null for none. */
    def rest: String = left
    for ((each, place) <- declared.fieldNames.zipWithIndex) places.put(each, place)

    /** The first field's misfit; null if all fit. The parser is at the object's beginning. */
    def fill(in: JsonParser, row: GenericInternalRow): Misfit = {
      var fits = true
      met = false
      var others: LinkedHashMap[String, String] = null
      var name = in.nextFieldName()
      while (name != null) {
        in.nextToken()
        val place = places.get(name)
        if (place != null) {
          val found = reads(place)(in)
          met ||= isField(place)
          if (rescue) {
            val rest = reads(place).rest
            if (rest != null) {
              if (others == null) others = new LinkedHashMap()
              JsonReads.putLast(others, name, rest)
            } else if (others != null) others.remove(name)
          }
          if (found.isInstanceOf[Misfit]) fits = false
          row.update(place, found)
        } else if (rescue) {
          if (others == null) others = new LinkedHashMap()
          JsonReads.putLast(others, name, JsonText.of(in))
        } else in.skipChildren()
        name = in.nextFieldName()
      }
      // Of a name that is repeated only the last value counts.
      met ||= ways.exists(place => row.values(place) != null && reads(place).matched)
      left = if (others == null || others.isEmpty) null else JsonText.ofMembers(others)
      if (fits) null else Misfit.first(row.values, declared.fieldNames(_))
    }

  }

  class Struct(declared: StructType, members: Members) extends Read(declared) {

    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.START_OBJECT) null
      else {
        val row = Cells.row(declared.length)
        val misfit = members.fill(in, row)
        met = members.matched
        left = members.rest
        if (misfit == null) row else misfit
      }
  }

  private final class Elements(declared: ArrayType, element: Read) extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.START_ARRAY) null
      else {
        val found = ArrayBuffer.empty[Any]
        val rests = ArrayBuffer.empty[String]
        var misfit: Misfit = null
        while (in.nextToken() != JsonToken.END_ARRAY) {
          element(in) match {
            case wrong: Misfit =>
              if (misfit == null) misfit = wrong.within(s"[${found.length}]")
              found += null
            case each => found += each
          }
          if (element.rest != null) {
            while (rests.length < found.length - 1) rests += "null"
            rests += element.rest
          }
        }
        if (rests.nonEmpty) left = rests.mkString("[", ",", "]")
        if (misfit == null) new GenericArrayData(found.toArray[Any]) else misfit
      }
  }

  private final class Entries(declared: MapType, member: Read) extends Read(declared) {
    protected def value(in: JsonParser, token: JsonToken): Any =
      if (token != JsonToken.START_OBJECT) null
      else {
        val found = new LinkedHashMap[String, Any]()
        val rests = new LinkedHashMap[String, String]()
        var name = in.nextFieldName()
        while (name != null) {
          in.nextToken()
          putLast(found, name, member(in))
          if (member.rest != null) putLast(rests, name, member.rest) else rests.remove(name)
          name = in.nextFieldName()
        }
        if (!rests.isEmpty) left = JsonText.ofMembers(rests)
        firstMisfit(found) match {
          case null => ArrayBasedMapData(found, name => UTF8String.fromString(name.toString), identity)
          case misfit => misfit
        }
      }

    private def firstMisfit(found: LinkedHashMap[String, Any]): Misfit =
      found.asScala
        .collectFirst { case (name, misfit: Misfit) => misfit.within(JsonText.place(name)) }
        .orNull
  }

  /** Of a name that is repeated the last value counts, in the last one's place. */
  private def putLast[V](members: LinkedHashMap[String, V], name: String, value: V): Unit = {
    members.remove(name)
    members.put(name, value)
  }
}
