package sluice

import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.{StringType, StructField, StructType}

/** Avro's bytes: the fields are the reader's, or `value` where its schema is no record.
  *
  * They must be exactly one datum of the writer's that the reader can read.
  */
case class AvroDatum(child: Expression, writer: String, reader: String) extends Decoded[Array[Byte]] {
  @transient private lazy val ours = AvroDatum.parsed(reader)
  @transient private lazy val isRecord = ours.getType == Schema.Type.RECORD
  @transient private lazy val reading = AvroReads.of(AvroDatum.parsed(writer), ours)

  override lazy val dataType: StructType = {
    val fields =
      if (isRecord) AvroTypes.fields(ours)
      else StructType(Seq(StructField("value", AvroTypes.column(ours))))
    fields.add("_error", StringType)
  }

  override def prettyName: String = "sluice_avro"

  override protected def read(bytes: Array[Byte]): GenericInternalRow = {
    val in = new AvroBytes.Cursor(bytes)
    val row = new GenericInternalRow(width)
    reading match {
      case fields: AvroRecords.Fields => fields.fill(in, row)
      case other if isRecord =>
        val found = other(in).asInstanceOf[GenericInternalRow]
        System.arraycopy(found.values, 0, row.values, 0, width - 1)
      case other => row.update(0, other(in))
    }
    if (in.left > 0)
      throw new Misfit(s"expected the end of the record, found ${in.left} more bytes")
    row
  }

  override protected def withNewChildInternal(child: Expression): AvroDatum = copy(child = child)
}

object AvroDatum {
  private def parsed(text: String): Schema =
    new Schema.Parser().setValidateDefaults(false).parse(text)
}
