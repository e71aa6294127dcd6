package sluice

import java.lang.{StringBuilder => Text}
import org.apache.avro.Schema
import org.apache.avro.Schema.Type
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Rescue: the fields of a record that no column is read from, at every depth, as the text of an
  * object that has the record's shape.
  */
private[sluice] object AvroRescue {
  import AvroBytes.Cursor
  import AvroShapes.Shape

  /** Of a whole datum, which is read as the row; null where there are no such fields. */
  def of(
      writer: Schema,
      reader: Schema,
      declared: StructType
  ): (Cursor, GenericInternalRow) => Any =
    if (reader.getType != Type.RECORD) {
      val kept = told(within(declared(0).name, rescue(writer, reader, declared(0).dataType)))
      (in, _) => kept(in)
    } else if (!Changes.areParts(declared)) {
      val kept = told(rescue(writer, reader, declared))
      (in, _) => kept(in)
    } else {
      val before = told(state(writer, reader, declared, Changes.Before))
      val after = told(state(writer, reader, declared, Changes.After))
      (in, row) =>
        Changes.side(row) match {
          case Changes.Before => before(in)
          case Changes.After => after(in)
          case _ => null
        }
    }

  private def told(kept: Rescue): Cursor => Any =
    if (isNone(kept)) _ => null
    else
      in => {
        val text = new Text
        if (kept(in, text)) UTF8String.fromString(text.toString) else null
      }

  private abstract class Rescue {

    /** Appends what is kept of the next datum, and passes over the rest; false if that is all. */
    def apply(in: Cursor, text: Text): Boolean
  }

  private final class Passed(shape: Shape) extends Rescue {
    def apply(in: Cursor, text: Text): Boolean = {
      shape.walk(in)
      false
    }
  }

  private def isNone(each: Rescue): Boolean = each.isInstanceOf[Passed]

  /** As AvroReads reads it. What that refuses, or tells as text, leaves nothing. */
  private def rescue(writer: Schema, reader: Schema, column: DataType): Rescue = {
    lazy val passed = new Passed(AvroShapes.of(writer))
    (writer.getType, reader.getType, column) match {
      case (Type.UNION, _, _) => ofUnion(writer, rescue(_, reader, column), passed)
      case (_, Type.UNION, _) =>
        AvroReads.member(writer, reader, column) match {
          case None => passed
          case Some(member) =>
            val kept = rescue(writer, member.schema, member.column.dataType)
            if (member.alone) kept else within(member.column.name, kept)
        }
      case (Type.RECORD, Type.RECORD, fields: StructType) => ofRecord(writer, reader, fields, passed)
      case (Type.ARRAY, Type.ARRAY, array: ArrayType) =>
        val member = rescue(writer.getElementType, reader.getElementType, array.elementType)
        if (isNone(member)) passed
        else new Elements(member, AvroShapes.of(writer.getElementType).isEmpty)
      case (Type.MAP, Type.MAP, map: MapType) =>
        val member = rescue(writer.getValueType, reader.getValueType, map.valueType)
        if (isNone(member)) passed else new Entries(member)
      case _ => passed
    }
  }

  private def ofUnion(writer: Schema, of: Schema => Rescue, passed: => Rescue): Rescue = {
    val members = writer.getTypes.asScala.map(of).toArray
    if (members.forall(isNone)) passed
    else (in, text) => members(in.place(members.length, "of a union's type"))(in, text)
  }

  /** Of an event, what one state of its row has; of the event itself nothing is kept. */
  private def state(writer: Schema, reader: Schema, parts: StructType, side: Int): Rescue = {
    def passed = new Passed(AvroShapes.of(writer))
    writer.getType match {
      case Type.UNION => ofUnion(writer, state(_, reader, parts, side), passed)
      case Type.RECORD =>
        val theirs = writer.getFields.asScala.toArray
        val source = AvroRecords.sources(writer, reader, parts)(side)
        val kept = parts(side)
        if (source < 0) passed
        else {
          val of = rescue(theirs(source).schema, reader.getField(kept.name).schema, kept.dataType)
          if (isNone(of)) passed
          else new Only(theirs.map(each => AvroShapes.of(each.schema)), source, of)
        }
      case _ => passed
    }
  }

  private def ofRecord(
      writer: Schema,
      reader: Schema,
      columns: StructType,
      passed: => Rescue
  ): Rescue = {
    val theirs = writer.getFields.asScala.toArray
    val sources = AvroRecords.sources(writer, reader, columns)
    val rescues = theirs.indices.map { place =>
      val column = sources.indexOf(place)
      if (column < 0) whole(AvroJson.of(theirs(place).schema))
      else {
        val read = reader.getField(columns(column).name)
        rescue(theirs(place).schema, read.schema, columns(column).dataType)
      }
    }.toArray
    if (rescues.forall(isNone)) passed else new Members(theirs.map(_.name), rescues)
  }

  private def whole(telling: AvroJson.Telling): Rescue = (in, text) => {
    telling(in, text)
    true
  }

  /** What is kept as the one member of an object. */
  private def within(name: String, kept: Rescue): Rescue =
    if (isNone(kept)) kept else new Members(Array(name), Array(kept))

  /** What one field of a record leaves, not as a member of it. */
  private final class Only(shapes: Array[Shape], source: Int, kept: Rescue) extends Rescue {
    def apply(in: Cursor, text: Text): Boolean = {
      var (place, any) = (0, false)
      while (place < shapes.length) {
        if (place == source) any = kept(in, text) else shapes(place).walk(in)
        place += 1
      }
      any
    }
  }

  private final class Members(names: Array[String], rescues: Array[Rescue]) extends Rescue {
    private val heads = names.map(each => s"${JsonText.quoted(each)}:")

    def apply(in: Cursor, text: Text): Boolean = {
      val start = text.length
      var place = 0
      try {
        while (place < rescues.length) {
          val from = text.length
          text.append(if (from == start) '{' else ',').append(heads(place))
          if (!rescues(place)(in, text)) text.setLength(from)
          place += 1
        }
      } catch { case misfit: Misfit => throw misfit.within(names(place)) }
      AvroJson.bounded(text)
      if (text.length > start) text.append('}')
      text.length > start
    }
  }

  /** Those before one of which something is kept are null. */
  private final class Elements(member: Rescue, empty: Boolean) extends Rescue {
    private val Gap = "null,"

    def apply(in: Cursor, text: Text): Boolean = {
      val start = text.length
      var (place, told) = (0, 0)
      text.append('[')
      AvroShapes.members(
        in,
        empty,
        () => {
          val from = text.length
          if (member(in, text)) {
            AvroJson.bounded(text, (place - told).toLong * Gap.length)
            text.insert(from, (if (told == 0) "" else ",") + Gap.repeat(place - told))
            told = place + 1
          }
          place += 1
        }
      )
      if (told > 0) text.append(']') else text.setLength(start)
      told > 0
    }
  }

  private final class Entries(member: Rescue) extends Rescue {
    def apply(in: Cursor, text: Text): Boolean = {
      val start = text.length
      val any = AvroJson.entries(in, text, () => member(in, text))
      if (!any) text.setLength(start)
      any
    }
  }
}
