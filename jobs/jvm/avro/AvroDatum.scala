package sluice

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}

/** Avro's bytes: exactly one datum of a writer's schema that the reader's can read. The columns are
  * the reader's fields, or one alone where its schema is no record.
  *
  * Without frames the reader wrote them all; a container file has its writer's schema. With `rescue`
  * the fields that no column is read from are kept at every depth, as the text of an object.
  */
case class AvroDatum(
    child: Expression,
    columns: String,
    frames: String,
    reader: String,
    rescue: Boolean
) extends Decoded {
  @transient private lazy val ours = AvroDatum.parsed(reader)
  @transient private lazy val alone = new AvroColumns(ours, ours, declared)
  @transient private lazy val container = new AvroContainer(ours, declared)
  @transient private lazy val framed =
    if (frames.isEmpty) null else new Frames(frames, new AvroWriter(_, _, ours, declared))

  override def prettyName: String = "sluice_avro"

  override protected def prepare(): Unit = ours

  override protected def read(record: InternalRow): InternalRow = {
    val row = new GenericInternalRow(width)
    if (frames == AvroContainer.Name) container.fill(record.getBinary(0), row, rescue)
    else if (framed == null) alone.fill(record.getBinary(0), 0, row, rescue)
    else {
      val (frame, writer) = framed.of(record)
      writer.fill(frame.bytes, frame.start, row, rescue)
    }
    row
  }

  override protected def withNewChildInternal(child: Expression): AvroDatum = copy(child = child)
}

private[sluice] object AvroDatum {
  def parsed(text: String): Schema =
    new Schema.Parser().setValidateDefaults(false).parse(text)
}
