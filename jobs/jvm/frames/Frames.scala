package sluice

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import java.util.HashMap
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** Frames: those of a format's records, and what is known of the schemas that they name.
  *
  * `known` is JSON: `header` is the name of the header, `writers` has by the schemas' keys what the
  * format needs to know of each, or as text why no record of it can be decoded.
  */
private[sluice] final class Frames[Writer](known: String, made: (String, JsonNode) => Writer) {
  private val read = new ObjectMapper().readTree(known)
  private val header = UTF8String.fromString(read.get("header").textValue)
  private val writers = new HashMap[Any, Either[String, Writer]]()
  read.get("writers").properties.forEach { each =>
    val (key, found) = (each.getKey, each.getValue)
    val writer = if (found.isTextual) Left(found.textValue) else Right(made(key, found))
    writers.put(Frame.schemaOf(key), writer)
  }

  /** The record's frame, and its writer's schema. A Misfit says why it cannot be decoded. */
  def of(record: InternalRow): (Frame, Writer) = {
    val frame = new Frame(record, header)
    frame.requireSchema()
    writers.get(frame.schema) match {
      case null => throw new Misfit(s"${Frames.Unknown} ${frame.key}")
      case Left(why) => throw new Misfit(why)
      case Right(writer) => (frame, writer)
    }
  }
}

private object Frames {
  private val Unknown = "no such schema in the registry:"
}
