package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import java.nio.ByteBuffer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.VariantType

/** JSON's bytes as Connect's converter writes them, with or without its wrapper. What the types of
  * fields are named in it says what their values mean.
  *
  * As JsonRecord else. A null means no value at all; another value that is no object is the column
  * `value`, where this is the only one; as a VARIANT it is an object too.
  */
case class JsonConverted(
    child: Expression,
    columns: String,
    frames: String,
    at: String,
    unit: String,
    rescue: Boolean,
    unmatched: String
) extends JsonObjects {
  import JsonConverted._

  @transient private lazy val plain = members(Map.empty)
  @transient private lazy val bySchema = new Newest[JsonReads.Members]
  @transient private lazy val plainAlone = alone(null)
  @transient private lazy val aloneBySchema = new Newest[JsonReads.Read]
  @transient private lazy val isAlone = declared.length == 1 && declared(0).name == Alone
  @transient private lazy val isVariant = isAlone && declared(0).dataType == VariantType

  override def prettyName: String = "sluice_json_converted"

  override protected def readText(bytes: Array[Byte]): InternalRow = JsonWrapper.of(bytes) match {
    case null => readValue(bytes, null)
    case wrapped => readValue(wrapped.payload, wrapped.schema)
  }

  private def readValue(bytes: Array[Byte], schema: ByteBuffer): InternalRow = {
    val in = JsonText.parser(bytes)
    def types = JsonConnect.typesOf(schema)
    in.nextToken() match {
      case JsonToken.START_OBJECT if isVariant => readAlone(bytes, in, plainAlone)
      case JsonToken.START_OBJECT if schema == null => readObject(bytes, in, plain)
      case JsonToken.START_OBJECT => readObject(bytes, in, bySchema(schema, members(types)))
      case JsonToken.VALUE_NULL if in.nextToken() == null => null
      case null | JsonToken.VALUE_NULL => throw new Misfit(JsonFlaw.of(bytes))
      case _ if !isAlone =>
        throw new Misfit(s"${JsonFlaw.of(bytes)}. The one column `$Alone` would take it")
      case _ if schema == null => readAlone(bytes, in, plainAlone)
      case _ => readAlone(bytes, in, aloneBySchema(schema, alone(schema)))
    }
  }

  private def readAlone(bytes: Array[Byte], in: JsonParser, read: JsonReads.Read): InternalRow =
    read(in) match {
      case misfit: Misfit => throw misfit.within(Alone)
      case _ if in.nextToken() != null => throw new Misfit(JsonFlaw.of(bytes))
      case value =>
        val row = new GenericInternalRow(width)
        row.update(0, value)
        keep(read.rest, row)
        row
    }

  private def members(types: Map[String, JsonConnect.Named]) =
    JsonConnect.members(declared, unit, rescue, types)

  private def alone(schema: ByteBuffer) = JsonConnect.alone(declared(0), unit, rescue, schema)

  override protected def withNewChildInternal(child: Expression): JsonConverted =
    copy(child = child)
}

private[sluice] object JsonConverted {
  private val Alone = "value"
}
