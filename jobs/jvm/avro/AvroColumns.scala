package sluice

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType

/** Columns: a whole datum of a writer's schema as the first fields of a row. What is rescued follows
  * them.
  */
private[sluice] final class AvroColumns(writer: Schema, reader: Schema, declared: StructType) {
  private val isRecord = reader.getType == Schema.Type.RECORD
  private val read = AvroReads.of(writer, reader, if (isRecord) declared else declared(0).dataType)
  private val isEvent = isRecord && Changes.areParts(declared)
  private val isPlain = read.isInstanceOf[AvroRecords.Fields]
  private lazy val rescued = AvroRescue.of(writer, reader, declared)

  /** Throws a Misfit. What the bytes are not comes before what no column holds. */
  def fill(bytes: Array[Byte], start: Int, row: GenericInternalRow, rescue: Boolean): Unit = {
    fill(bytes, start, row)
    if (rescue) {
      val again = new AvroBytes.Cursor(bytes, start)
      // Its levels were counted, but for those that columns have.
      again.depth = Int.MinValue
      row.update(declared.length, rescued(again, row))
    }
  }

  private def fill(bytes: Array[Byte], start: Int, row: GenericInternalRow): Unit = {
    val found =
      try datum(new AvroBytes.Cursor(bytes, start), row)
      catch { case flaw: Misfit => throw flaw.hinted(if (start > 0) "" else ValueKind.of(bytes)) }
    found match {
      // Of the state that the op is not about, nothing matters.
      case _: Misfit if isEvent && isPlain => ()
      case misfit: Misfit => throw (if (isRecord) misfit else misfit.within(declared(0).name))
      case nested: GenericInternalRow if isRecord =>
        if (nested ne row) System.arraycopy(nested.values, 0, row.values, 0, nested.values.length)
      case value => row.update(0, value)
    }
    if (isEvent) Changes.settle(row, bare = false)
  }

  private def datum(in: AvroBytes.Cursor, row: GenericInternalRow): Any = {
    val found = read match {
      case fields: AvroRecords.Fields if isRecord => fields.fill(in, row)
      case other => other(in)
    }
    if (in.left > 0)
      throw new Misfit(s"expected the end of the record, found ${in.left} more bytes")
    found
  }
}
