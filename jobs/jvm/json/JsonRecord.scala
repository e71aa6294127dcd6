package sluice

import com.fasterxml.jackson.core.{JsonProcessingException, JsonToken}
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.{DataType, StringType, StructType}

/** JSON's bytes: one object in strict UTF-8, whose members are the columns.
  *
  * `unit` is what a TIMESTAMP's numbers count: s, ms, us, or empty where it takes none. With `rescue`
  * there is a field `_rescued` as well: the members that are no columns, as the text of an object.
  */
case class JsonRecord(child: Expression, columns: String, unit: String, rescue: Boolean)
    extends Decoded[Array[Byte]] {
  @transient private lazy val declared = DataType.fromJson(columns).asInstanceOf[StructType]
  @transient private lazy val members = new JsonReads.Members(declared, unit, rescue)

  override lazy val dataType: StructType = {
    val kept = if (rescue) declared.add("_rescued", StringType) else declared
    kept.add("_error", StringType)
  }

  override def prettyName: String = "sluice_json"

  override protected def read(bytes: Array[Byte]): GenericInternalRow =
    JsonText.whyUnclean(bytes) match {
      case "" => readText(bytes)
      case why => failed(why)
    }

  private def readText(bytes: Array[Byte]): GenericInternalRow =
    try {
      val in = JsonText.parser(bytes)
      if (in.nextToken() != JsonToken.START_OBJECT) throw new Misfit(JsonRecord.NotOne)
      val row = new GenericInternalRow(width)
      val misfit = members.fill(in, row)
      if (in.nextToken() != null) throw new Misfit(JsonRecord.NotOne)
      if (misfit == null) row else failed(misfit.told)
    } catch {
      case _: JsonProcessingException => failed(JsonRecord.NotOne)
    }

  override protected def withNewChildInternal(child: Expression): JsonRecord = copy(child = child)
}

object JsonRecord {
  private val NotOne = "not one JSON object"
}
