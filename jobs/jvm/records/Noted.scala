package sluice

import java.util.BitSet
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, Generator}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import scala.collection.mutable

/** The rows of a task without those that are dropped, and after them its notes: the offsets of all
  * that are `noted`, as a bit each. So both are known when a task has read its rows once.
  *
  * `children` are: whether a row is noted, whether it is dropped; its topic, partition and offset. The
  * rows that stay have a null for a note. Notes are one for each `Noted.Bits` offsets of a partition,
  * and where they are in a row, its other columns mean nothing: they are those of the task's last row.
  */
case class Noted(children: Seq[Expression]) extends Generator with CodegenFallback {
  @transient private lazy val stays = Seq(new GenericInternalRow(Array[Any](null)))
  // By topic and partition, then by what an offset has above the bits of a note.
  @transient private lazy val notes =
    mutable.LinkedHashMap.empty[(UTF8String, Int, Long), BitSet]
  // Records come in order: most have the place of the one before.
  @transient private var last: (UTF8String, Int, Long) = _
  @transient private var bits: BitSet = _

  override def prettyName: String = "sluice_noted"
  override def elementSchema: StructType = new StructType().add("note", Noted.Note)

  override def eval(row: InternalRow): IterableOnce[InternalRow] = {
    if (children(0).eval(row) == true) note(row)
    if (children(1).eval(row) == true) Nil else stays
  }

  private def note(row: InternalRow): Unit = {
    val topic = children(2).eval(row).asInstanceOf[UTF8String]
    val partition = children(3).eval(row).asInstanceOf[Int]
    val offset = children(4).eval(row).asInstanceOf[Long]
    val part = offset / Noted.Bits
    if (last == null || last._3 != part || last._2 != partition || last._1 != topic) {
      // The bytes of a row are those of the next row as well.
      last = (topic.copy(), partition, part)
      bits = notes.getOrElseUpdate(last, new BitSet(Noted.Bits))
    }
    bits.set((offset % Noted.Bits).toInt)
  }

  override def terminate(): IterableOnce[InternalRow] = {
    val told = notes.toSeq.map { case ((topic, partition, part), found) =>
      val note = Array[Any](topic, partition, part * Noted.Bits, found.toByteArray)
      new GenericInternalRow(Array[Any](new GenericInternalRow(note)))
    }
    notes.clear()
    last = null
    told
  }

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): Noted =
    copy(children = children)
}

private object Noted {
  val Bits = 32768
  // The bit of the first offset is the lowest one of the first byte.
  private val Note = new StructType()
    .add("topic", StringType)
    .add("partition", IntegerType)
    .add("first", LongType)
    .add("bits", BinaryType)
}
