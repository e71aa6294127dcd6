package sluice

import org.apache.avro.Schema
import org.apache.spark.unsafe.types.UTF8String
import scala.collection.mutable.HashMap
import scala.jdk.CollectionConverters._
import scala.util.control.NoStackTrace

/** Shapes: whether bytes are exactly one datum of an Avro schema, before anything is made of them.
  *
  * Avro's own decoder allocates what a length asks for before it looks for the bytes, leaves what
  * follows the datum, takes any byte for a boolean, and does not look at the UTF-8 of strings.
  */
private[sluice] object AvroShapes {

  /** Where a datum leaves its schema, what was expected there, and what was found. */
  final class Misfit(val text: String) extends Exception with NoStackTrace {
    var path: String = ""
    def within(name: String): Misfit = {
      path = if (path.isEmpty || path.startsWith("[")) name + path else s"$name.$path"
      this
    }
    def told: String = if (path.isEmpty) text else s"$path: $text"
  }

  // Deeper data of a recursive schema is not read. Types that nest as deep are refused before.
  private val Deepest = 200
  // Elements without bytes, such as nulls: a few bytes could ask for any number of them.
  private val MostEmpty = 100000
  private val Shown = 50

  final class Cursor(val bytes: Array[Byte]) {
    var at = 0
    var depth = 0
    var empty = 0

    def left: Int = bytes.length - at

    def skip(count: Long): Unit = {
      if (count < 0) throw new Misfit(s"expected a length, found $count")
      if (count > left) throw new Misfit(s"expected $count bytes, found $left")
      at += count.toInt
    }

    private def next(): Int = {
      if (at >= bytes.length) throw new Misfit("expected a number, found the end of the record")
      at += 1
      bytes(at - 1)
    }

    /** Zigzag, seven bits a byte, and no more bits than it has. */
    private def zigzag(bits: Int, what: String): Long = {
      var byte = next()
      var found = (byte & 0x7f).toLong
      var shift = 7
      while (byte < 0) {
        byte = next()
        val wide = bits - shift
        if (wide < 7 && (byte < 0 || wide <= 0 || (byte >> wide) != 0))
          throw new Misfit(s"expected $what, found one of more than $bits bits")
        found |= (byte & 0x7f).toLong << shift
        shift += 7
      }
      (found >>> 1) ^ -(found & 1)
    }

    def long(): Long = zigzag(64, "a long")

    def int(): Int = zigzag(32, "an int").toInt

    def text(): Unit = {
      val length = long()
      val start = at
      skip(length)
      var seen = start
      while (seen < at && bytes(seen) >= 0) seen += 1
      if (seen < at && !UTF8String.fromBytes(bytes, start, at - start).isValid)
        throw new Misfit(s"""expected text in UTF-8, found bytes "${hex(start)}"""")
    }

    private def hex(start: Int): String = {
      val shown = bytes.slice(start, math.min(at, start + Shown)).map(each => f"$each%02X").mkString
      if (at - start > Shown) shown + "…" else shown
    }
  }

  sealed abstract class Shape {
    def walk(in: Cursor): Unit

    /** Whether a datum may take no bytes at all. */
    def isEmpty: Boolean = false
  }

  private object Null extends Shape {
    def walk(in: Cursor): Unit = ()
    override def isEmpty: Boolean = true
  }

  private object Bool extends Shape {
    def walk(in: Cursor): Unit = {
      in.skip(1)
      val found = in.bytes(in.at - 1)
      if (found != 0 && found != 1)
        throw new Misfit(s"expected a boolean, found the byte ${found & 0xff}")
    }
  }

  private object Int32 extends Shape { def walk(in: Cursor): Unit = in.int() }
  private object Int64 extends Shape { def walk(in: Cursor): Unit = in.long() }
  private object Bytes extends Shape { def walk(in: Cursor): Unit = in.skip(in.long()) }
  private object Text extends Shape { def walk(in: Cursor): Unit = in.text() }

  private final class Fixed(size: Int) extends Shape {
    def walk(in: Cursor): Unit = in.skip(size)
    override def isEmpty: Boolean = size == 0
  }

  private final class Symbols(count: Int) extends Shape {
    def walk(in: Cursor): Unit = {
      val found = in.int()
      if (found < 0 || found >= count)
        throw new Misfit(s"expected the place of a symbol below $count, found $found")
    }
  }

  private final class Union(members: Array[Shape]) extends Shape {
    def walk(in: Cursor): Unit = {
      val found = in.int()
      if (found < 0 || found >= members.length)
        throw new Misfit(s"expected the place of a union's type below ${members.length}, found $found")
      members(found).walk(in)
    }
  }

  private final class Record(names: Array[String]) extends Shape {
    val shapes = new Array[Shape](names.length)

    def walk(in: Cursor): Unit = {
      in.depth += 1
      if (in.depth > Deepest) throw new Misfit(s"expected at most $Deepest levels, found more")
      var place = 0
      try {
        while (place < shapes.length) {
          shapes(place).walk(in)
          place += 1
        }
      } catch { case misfit: Misfit => throw misfit.within(names(place)) }
      in.depth -= 1
    }

    // Of a recursive record, which holds itself in a union or a collection, these say no.
    override lazy val isEmpty: Boolean = shapes.forall(_.isEmpty)
  }

  /** Arrays, and with `named` maps: blocks of members, each with its count, until one of none. */
  private final class Members(member: Shape, named: Boolean) extends Shape {
    def walk(in: Cursor): Unit = {
      var count = in.long()
      var place = 0
      while (count != 0) {
        var end = -1L
        if (count < 0) {
          val size = in.long()
          if (size < 0 || size > in.left)
            throw new Misfit(s"expected a block of $size bytes, found ${in.left}")
          end = in.at + size
          count = -count
        }
        admit(in, count)
        val until = place + count.toInt
        while (place < until) {
          try {
            if (named) in.text()
            member.walk(in)
          } catch { case misfit: Misfit => throw misfit.within(s"[$place]") }
          place += 1
        }
        if (end >= 0 && in.at != end)
          throw new Misfit(s"expected a block's end at byte $end, found it at ${in.at}")
        count = in.long()
      }
    }

    private def admit(in: Cursor, count: Long): Unit = {
      val empty = !named && member.isEmpty
      val most = if (empty) MostEmpty - in.empty else in.left
      if (count < 0 || count > most) throw new Misfit(s"expected $count elements, found $most bytes")
      if (empty) in.empty += count.toInt
    }
  }

  private final class Refused(told: String) extends Shape {
    def walk(in: Cursor): Unit = throw new Misfit(told)
  }

  /** Of a writer's schema, as the reader's: records of another name are refused where they stand. */
  def of(writer: Schema, reader: Schema): Shape = shape(writer, reader, new Known)

  // Records may hold themselves; each is made once for each that it is read as.
  private type Known = HashMap[(String, String), Record]

  private def shape(schema: Schema, reader: Schema, known: Known): Shape =
    schema.getType match {
      case Schema.Type.NULL => Null
      case Schema.Type.BOOLEAN => Bool
      case Schema.Type.INT => Int32
      case Schema.Type.LONG => Int64
      case Schema.Type.FLOAT => new Fixed(4)
      case Schema.Type.DOUBLE => new Fixed(8)
      case Schema.Type.BYTES => Bytes
      case Schema.Type.STRING => Text
      case Schema.Type.FIXED => new Fixed(schema.getFixedSize)
      case Schema.Type.ENUM => new Symbols(schema.getEnumSymbols.size)
      case Schema.Type.UNION =>
        new Union(schema.getTypes.asScala.map(shape(_, reader, known)).toArray)
      case Schema.Type.ARRAY =>
        val into = AvroNames.alike(schema, reader).map(_.getElementType).orNull
        new Members(shape(schema.getElementType, into, known), named = false)
      case Schema.Type.MAP =>
        val into = AvroNames.alike(schema, reader).map(_.getValueType).orNull
        new Members(shape(schema.getValueType, into, known), named = true)
      case Schema.Type.RECORD =>
        val into = AvroNames.alike(schema, reader)
        if (into.isEmpty && reader != null) new Refused(AvroNames.told(schema, reader))
        else record(schema, into.orNull, known)
    }

  private def record(schema: Schema, reader: Schema, known: Known): Record = {
    val key = (schema.getFullName, if (reader == null) "" else reader.getFullName)
    known.getOrElse(
      key, {
        val fields = schema.getFields.asScala.toArray
        val made = new Record(fields.map(_.name))
        known.put(key, made)
        fields.indices.foreach { place =>
          val into = AvroNames.counterpart(fields(place), reader)
          made.shapes(place) = shape(fields(place).schema, into, known)
        }
        made
      }
    )
  }
}

/** Which parts of a reader's schema are meant by a writer's: by Avro's rules, null is no part. */
private[sluice] object AvroNames {

  /** The reader's type of the kind, or that member of its union; records by their names. */
  def alike(writer: Schema, reader: Schema): Option[Schema] = {
    val members =
      if (reader == null) Seq.empty
      else if (reader.getType == Schema.Type.UNION) reader.getTypes.asScala.toSeq
      else Seq(reader)
    val ofKind = members.filter(_.getType == writer.getType)
    if (writer.getType != Schema.Type.RECORD) ofKind.headOption
    else
      ofKind
        .find(_.getFullName == writer.getFullName)
        .orElse(ofKind.find(_.getAliases.contains(writer.getFullName)))
        .orElse(ofKind.find(_.getName == writer.getName))
  }

  def counterpart(field: Schema.Field, reader: Schema): Schema = {
    val fields = if (reader == null) Seq.empty else reader.getFields.asScala.toSeq
    fields
      .find(_.name == field.name)
      .orElse(fields.find(_.aliases.contains(field.name)))
      .map(_.schema)
      .orNull
  }

  def told(writer: Schema, reader: Schema): String = {
    val expected = reader.getType match {
      case Schema.Type.UNION => reader.getTypes.asScala.map(_.getFullName).mkString("[", ", ", "]")
      case Schema.Type.RECORD => s"record ${reader.getFullName}"
      case _ => reader.getFullName
    }
    s"expected $expected, found record ${writer.getFullName}"
  }
}
