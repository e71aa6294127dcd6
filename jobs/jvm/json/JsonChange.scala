package sluice

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import java.util.Arrays
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** A change event of Debezium in JSON's bytes, with or without Connect's wrapper.
  *
  * `columns` are those of Changes. What else an event has is passed over; with `rescue` the members
  * of the row that are no columns are kept. `unmatched` says what becomes of a row that has none of
  * the fields. An event without the row that its op needs is refused, unless such ones land.
  */
case class JsonChange(
    child: Expression,
    columns: String,
    frames: String,
    at: String,
    unit: String,
    rescue: Boolean,
    unmatched: String
) extends JsonObjects {
  @transient private lazy val plain = new JsonChange.Event(declared, unit, rescue, Map.empty)
  @transient private lazy val bySchema = new Newest[JsonChange.Event]

  override def prettyName: String = "sluice_json_change"

  override protected def readText(bytes: Array[Byte]): InternalRow = JsonWrapper.of(bytes) match {
    case null => readEvent(bytes, plain)
    case wrapped if !wrapped.hasObject =>
      throw new Misfit(
        s"${Changes.Expected}, found Connect's schema and payload without an object in payload"
      )
    case wrapped if wrapped.schema == null => readEvent(wrapped.payload, plain)
    case wrapped =>
      def types = JsonConnect.eventTypes(wrapped.schema)
      val event = bySchema(wrapped.schema, new JsonChange.Event(declared, unit, rescue, types))
      readEvent(wrapped.payload, event)
  }

  private def readEvent(bytes: Array[Byte], event: JsonChange.Event): InternalRow = {
    val in = JsonText.parser(bytes)
    if (in.nextToken() != JsonToken.START_OBJECT) throw new Misfit(JsonFlaw.of(bytes))
    val row = new GenericInternalRow(width)
    event.fill(in, row)
    if (in.nextToken() != null) throw new Misfit(JsonFlaw.of(bytes))
    if (row.isNullAt(Changes.Op)) throw new Misfit(Changes.told(JsonUnmatched.names(bytes)))
    Changes.settle(row, lands)
    settled(bytes, event, row)
  }

  private def settled(bytes: Array[Byte], event: JsonChange.Event, row: GenericInternalRow) =
    Changes.side(row) match {
      case Changes.Neither => row
      // Nothing was read of it: what the state holds is of the event before.
      case side if row.isNullAt(side) => row
      case side =>
        val state = event.states(side)
        keep(state.rest, row)
        if (lands || state.matched || state.rest != null) row
        else {
          val found = Arrays.copyOfRange(bytes, state.start, bytes.length)
          lacking(row, s"${Changes.Names(side)}: ${JsonUnmatched.told(state.row, found)}")
        }
    }

  override protected def withNewChildInternal(child: Expression): JsonChange = copy(child = child)
}

private[sluice] object JsonChange {

  /** One state of the row: an object, or the text of one, as MongoDB's connector writes it. */
  final class State(val row: StructType, members: JsonReads.Members)
      extends JsonReads.Struct(row, members) {
    private val isText = row.length == 1 && row(0).dataType == StringType &&
      Changes.Names.contains(row(0).name)

    /** The byte at which the last one began. */
    var start = 0

    override protected def value(in: JsonParser, token: JsonToken): Any = {
      start = in.currentTokenLocation.getByteOffset.toInt
      if (token != JsonToken.VALUE_STRING) super.value(in, token)
      else if (!isText) new Misfit(Changes.AsText)
      else {
        val found = Cells.row(1)
        found.update(0, UTF8String.fromString(in.getText))
        met = true
        found
      }
    }
  }

  /** An event, of whose row the types are known that something names. */
  final class Event(
      declared: StructType,
      unit: String,
      rescue: Boolean,
      types: Map[String, JsonConnect.Named]
  ) {
    private val reads = declared.map { each =>
      each.dataType match {
        case row: StructType => new State(row, JsonConnect.members(row, unit, rescue, types))
        case other => JsonReads.of(other, "", rescue)
      }
    }.toArray
    private val parts = new JsonReads.Members(declared, reads, rescue = false)

    def states(side: Int): State = reads(side).asInstanceOf[State]

    /** With a Misfit in the place of each part that has one. */
    def fill(in: JsonParser, row: GenericInternalRow): Unit = parts.fill(in, row)
  }
}
