package sluice

import java.lang.{StringBuilder => Text}
import java.math.{BigDecimal, BigInteger}
import java.util.{Arrays, Base64, IdentityHashMap, LinkedHashMap}
import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.Schema.Type
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** JSON: data as JSON text, by the schema alone that they were written with. It holds what no column
  * can: a type that holds itself, a record without fields, any number of digits.
  *
  * Bytes are base64. Dates and times are the numbers that they are. A union of several types is an
  * object as its column is.
  */
private[sluice] object AvroJson {
  import AvroBytes.Cursor

  // A record of a megabyte can ask for more than a JVM's memory: members of no bytes, with names.
  private val MostText = 67108864
  // To find more takes longer than a record may take.
  val MostDigits = 9864
  private val MostDigitBytes = 4096

  /** Appends the next datum. */
  abstract class Telling { def apply(in: Cursor, text: Text): Unit }

  def of(schema: Schema): Telling = telling(schema, new IdentityHashMap[Schema, Record])

  /** A datum as the value of a column. */
  def text(schema: Schema): AvroReads.Read = {
    val told = of(schema)
    in => {
      val text = new Text
      told(in, text)
      UTF8String.fromString(text.toString)
    }
  }

  private def telling(schema: Schema, known: IdentityHashMap[Schema, Record]): Telling =
    schema.getType match {
      case Type.NULL => (_, text) => text.append("null")
      case Type.BOOLEAN => (in, text) => text.append(in.boolean())
      case Type.INT => (in, text) => text.append(in.int())
      case Type.LONG => (in, text) => text.append(in.long())
      case Type.FLOAT => (in, text) => number(in.float().toString, text)
      case Type.DOUBLE => (in, text) => number(in.double().toString, text)
      case Type.STRING => (in, text) => text.append(JsonText.quoted(in.text().toString))
      case Type.ENUM => new Symbols(schema.getEnumSymbols.asScala.map(JsonText.quoted).toArray)
      case Type.BYTES => bytes(schema, in => in.long())
      case Type.FIXED => bytes(schema, _ => schema.getFixedSize.toLong)
      case Type.ARRAY =>
        new Elements(telling(schema.getElementType, known), AvroShapes.of(schema.getElementType))
      case Type.MAP => new Entries(telling(schema.getValueType, known))
      case Type.UNION => union(schema.getTypes.asScala.toSeq, known)
      case Type.RECORD => record(schema, known)
    }

  /** What is no number to JSON is text. */
  private def number(found: String, text: Text): Unit =
    if (Character.isLetter(found.charAt(found.length - 1))) text.append('"').append(found).append('"')
    else text.append(found)

  private def bytes(schema: Schema, length: Cursor => Long): Telling = {
    val scale = schema.getLogicalType match {
      case decimal: LogicalTypes.Decimal => Some(decimal.getScale)
      case _ => None
    }
    (in, text) => {
      val many = length(in)
      in.skip(many)
      if (scale.nonEmpty && many > 0 && many <= MostDigitBytes)
        text.append(new BigDecimal(new BigInteger(in.bytes, in.at - many.toInt, many.toInt), scale.get))
      else {
        val found = Arrays.copyOfRange(in.bytes, in.at - many.toInt, in.at)
        text.append('"').append(Base64.getEncoder.encodeToString(found)).append('"')
      }
    }
  }

  /** Throws a Misfit for text that is too long with so much more. */
  def bounded(text: Text, more: Long = 0): Unit =
    if (text.length + more > MostText)
      throw new Misfit("expected JSON text of at most 67,108,864 characters, found more")

  private final class Symbols(quoted: Array[String]) extends Telling {
    def apply(in: Cursor, text: Text): Unit =
      text.append(quoted(in.place(quoted.length, "of a symbol")))
  }

  private final class Elements(member: Telling, shape: AvroShapes.Shape) extends Telling {
    def apply(in: Cursor, text: Text): Unit = {
      text.append('[')
      val start = text.length
      AvroShapes.members(
        in,
        shape.isEmpty,
        () => {
          if (text.length > start) text.append(',')
          member(in, text)
          bounded(text)
        }
      )
      text.append(']')
    }
  }

  private final class Entries(member: Telling) extends Telling {
    def apply(in: Cursor, text: Text): Unit = entries(
      in,
      text,
      () => {
        member(in, text)
        true
      }
    )
  }

  /** An object of a map's values. `tell` appends the next one, or nothing; false if all do that. */
  def entries(in: Cursor, text: Text, tell: () => Boolean): Boolean = {
    val start = text.length
    // Of repeated names the last counts. Names are put before the values once all are known.
    val ends = new LinkedHashMap[String, (Int, Int)]
    AvroShapes.members(
      in,
      false,
      () => {
        val name = in.text().toString
        val from = text.length - start
        if (tell()) ends.put(name, (from, text.length - start)) else ends.remove(name)
        bounded(text)
      }
    )
    val values = text.substring(start)
    text.setLength(start)
    text.append('{')
    ends.forEach { (name, value) =>
      if (text.length > start + 1) text.append(',')
      text.append(JsonText.quoted(name)).append(':').append(values, value._1, value._2)
    }
    text.append('}')
    !ends.isEmpty
  }

  private def union(members: Seq[Schema], known: IdentityHashMap[Schema, Record]): Telling = {
    val others = members.indices.filter(members(_).getType != Type.NULL)
    val isWide = AvroTypes.areOneNumber(others.map(members(_).getType).toSet)
    val tellings = members.map { each =>
      if (isWide && each.getType == Type.FLOAT) widened else telling(each, known)
    }.toArray
    if (others.length > 1 && !isWide) others.indices.foreach { place =>
      val (before, after) = around(place, others.length)
      val told = tellings(others(place))
      tellings(others(place)) = (in, text) => {
        text.append(before)
        told(in, text)
        text.append(after)
      }
    }
    (in, text) => tellings(in.place(tellings.length, "of a union's type"))(in, text)
  }

  private def widened: Telling = (in, text) => number(in.float().toDouble.toString, text)

  /** What stands before and after the value of one of so many types. */
  private def around(place: Int, count: Int): (String, String) = {
    val others = (0 until count).map(each => s""""member$each":${if (each == place) "" else "null"}""")
    (others.take(place + 1).mkString("{", ",", ""), others.drop(place + 1).map("," + _).mkString + "}")
  }

  private def record(schema: Schema, known: IdentityHashMap[Schema, Record]): Record = {
    val seen = known.get(schema)
    if (seen != null) return seen
    val fields = schema.getFields.asScala.toArray
    val made = new Record(fields.map(_.name))
    known.put(schema, made)
    fields.indices.foreach(place => made.values(place) = telling(fields(place).schema, known))
    made
  }

  private final class Record(names: Array[String]) extends Telling {
    val values = new Array[Telling](names.length)
    private val heads = names.indices.map { place =>
      s"${if (place == 0) "{" else ","}${JsonText.quoted(names(place))}:"
    }.toArray

    def apply(in: Cursor, text: Text): Unit = {
      AvroShapes.deepen(in)
      var place = 0
      try {
        while (place < values.length) {
          text.append(heads(place))
          values(place)(in, text)
          place += 1
        }
      } catch { case misfit: Misfit => throw misfit.within(names(place)) }
      text.append(if (place == 0) "{}" else "}")
      bounded(text)
      in.depth -= 1
    }
  }
}
