package sluice

import com.fasterxml.jackson.databind.JsonNode
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType
import scala.util.control.NonFatal

/** A schema that records are written with, and are read from as the reader's. Of `known`, `schema`
  * is its text.
  */
private[sluice] final class AvroWriter(
    key: String,
    known: JsonNode,
    reader: Schema,
    declared: StructType
) {
  private lazy val written = AvroDatum.parsed(known.get("schema").textValue)
  private lazy val columns = new AvroColumns(written, reader, declared)

  /** Throws a Misfit, which names the schema. */
  def fill(bytes: Array[Byte], start: Int, row: GenericInternalRow, rescue: Boolean): Unit =
    try columns.fill(bytes, start, row, rescue)
    catch {
      case NonFatal(problem) => throw new Misfit(s"schema id $key: ${Decoded.why(problem)}")
    }
}
