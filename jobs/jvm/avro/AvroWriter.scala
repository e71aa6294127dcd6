package sluice

import com.fasterxml.jackson.databind.JsonNode
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.expressions.json.StructsToJsonEvaluator
import org.apache.spark.sql.types.{DataType, StructType}
import scala.util.control.NonFatal

/** A schema that records are written with, and are read from as the reader's.
  *
  * Of `known`, `schema` is its text; `more` is there where it has fields that the reader has not: a
  * schema of only these, and its columns.
  */
private[sluice] final class AvroWriter(
    key: String,
    known: JsonNode,
    reader: Schema,
    declared: StructType
) {
  private lazy val written = AvroDatum.parsed(known.get("schema").textValue)
  private lazy val ours = new AvroColumns(written, reader, declared)
  private lazy val more = Option(known.get("more")).map { more =>
    val columns = DataType.fromJson(more.get("columns").toString).asInstanceOf[StructType]
    val theirs = AvroDatum.parsed(more.get("schema").textValue)
    val json = StructsToJsonEvaluator(Map("ignoreNullFields" -> "false"), columns, Some("UTC"))
    (columns, new AvroColumns(written, theirs, columns), json)
  }

  /** Throws a Misfit, which names the schema. */
  def fill(bytes: Array[Byte], start: Int, row: GenericInternalRow): Unit =
    try ours.fill(bytes, start, row)
    catch {
      case NonFatal(problem) => throw new Misfit(s"schema id $key: ${Decoded.why(problem)}")
    }

  /** The other fields as JSON; all null where one of them cannot be read. */
  def rescued(bytes: Array[Byte], start: Int): Any = more match {
    case None => null
    case Some((columns, others, json)) =>
      Cells.begin()
      val row = new GenericInternalRow(columns.length)
      try others.fill(bytes, start, row)
      catch { case NonFatal(_) => row.values.indices.foreach(row.setNullAt) }
      json.evaluate(row)
  }
}
