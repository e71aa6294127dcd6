package sluice

import java.util.IdentityHashMap
import org.apache.avro.Schema
import scala.jdk.CollectionConverters._

/** Shapes: what of a writer's schema is passed over, and checked all the same.
  *
  * Lengths and counts are compared with the bytes that are there before anything is made of them;
  * a boolean is 0 or 1, text is UTF-8.
  */
private[sluice] object AvroShapes {
  import AvroBytes.Cursor

  // Deeper data of a recursive schema is not read. Types that nest as deep are refused before.
  private val Deepest = 200
  // Elements without bytes, such as nulls: a few bytes could ask for any number of them.
  private val MostEmpty = 100000

  sealed abstract class Shape {
    def walk(in: Cursor): Unit

    /** Whether a datum may take no bytes at all. */
    def isEmpty: Boolean = false
  }

  private object Null extends Shape {
    def walk(in: Cursor): Unit = ()
    override def isEmpty: Boolean = true
  }

  private object Bool extends Shape { def walk(in: Cursor): Unit = in.boolean() }
  private object Int32 extends Shape { def walk(in: Cursor): Unit = in.int() }
  private object Int64 extends Shape { def walk(in: Cursor): Unit = in.long() }
  private object Bytes extends Shape { def walk(in: Cursor): Unit = in.skip(in.long()) }
  private object Text extends Shape { def walk(in: Cursor): Unit = in.checkedText() }

  private final class Fixed(size: Int) extends Shape {
    def walk(in: Cursor): Unit = in.skip(size)
    override def isEmpty: Boolean = size == 0
  }

  private final class Symbols(count: Int) extends Shape {
    def walk(in: Cursor): Unit = in.place(count, "of a symbol")
  }

  private final class Union(members: Array[Shape]) extends Shape {
    def walk(in: Cursor): Unit = members(in.place(members.length, "of a union's type")).walk(in)
  }

  private final class Record(names: Array[String]) extends Shape {
    val shapes = new Array[Shape](names.length)

    def walk(in: Cursor): Unit = {
      deepen(in)
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

  private final class Members(member: Shape, named: Boolean) extends Shape {
    // Of a record that is still being made it is not known yet.
    private lazy val isEmptyMember = !named && member.isEmpty

    def walk(in: Cursor): Unit = members(
      in,
      isEmptyMember,
      () => {
        if (named) in.checkedText()
        member.walk(in)
      }
    )
  }

  /** A record's fields begin; after them the depth is one less again. */
  def deepen(in: Cursor): Unit = {
    in.depth += 1
    if (in.depth > Deepest) throw new Misfit(s"expected at most $Deepest levels, found more")
  }

  /** Arrays and maps: blocks of members, each with its count, until one of none. */
  def members(in: Cursor, empty: Boolean, next: Next): Unit = {
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
      admit(in, count, empty)
      val until = place + count.toInt
      while (place < until) {
        try next()
        catch { case misfit: Misfit => throw misfit.within(s"[$place]") }
        place += 1
      }
      if (end >= 0 && in.at != end)
        throw new Misfit(
          s"expected a block's end at byte ${end - in.start}, found it at ${in.at - in.start}"
        )
      count = in.long()
    }
  }

  /** Takes the next member. */
  trait Next { def apply(): Unit }

  private def admit(in: Cursor, count: Long, empty: Boolean): Unit = {
    val most = if (empty) MostEmpty - in.empty else in.left
    if (count < 0 || count > most) throw new Misfit(s"expected $count elements, found $most bytes")
    if (empty) in.empty += count.toInt
  }

  def of(schema: Schema): Shape = shape(schema, new IdentityHashMap[Schema, Record])

  private def shape(schema: Schema, known: IdentityHashMap[Schema, Record]): Shape =
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
      case Schema.Type.UNION => new Union(schema.getTypes.asScala.map(shape(_, known)).toArray)
      case Schema.Type.ARRAY => new Members(shape(schema.getElementType, known), named = false)
      case Schema.Type.MAP => new Members(shape(schema.getValueType, known), named = true)
      case Schema.Type.RECORD => record(schema, known)
    }

  private def record(schema: Schema, known: IdentityHashMap[Schema, Record]): Record = {
    val seen = known.get(schema)
    if (seen != null) return seen
    val fields = schema.getFields.asScala.toArray
    val made = new Record(fields.map(_.name))
    known.put(schema, made)
    fields.indices.foreach(place => made.shapes(place) = shape(fields(place).schema, known))
    made
  }
}
