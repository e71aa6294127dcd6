package sluice

import java.lang.{StringBuilder => Text}
import org.apache.avro.Schema
import org.apache.avro.Schema.Type
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import scala.jdk.CollectionConverters._

/** Rescue: the fields of a record that no column is read from, as the text of an object. */
private[sluice] object AvroRescue {
  import AvroBytes.Cursor

  /** Of a whole datum; null where there are no such fields. */
  abstract class Rescue { def apply(in: Cursor): Any }

  private object Nothing extends Rescue { def apply(in: Cursor): Any = null }

  def of(writer: Schema, reader: Schema, declared: StructType): Rescue = writer.getType match {
    case Type.UNION =>
      val members = writer.getTypes.asScala.map(of(_, reader, declared)).toArray
      if (members.forall(_ eq Nothing)) Nothing
      else in => members(in.place(members.length, "of a union's type"))(in)
    case Type.RECORD if reader.getType == Type.RECORD =>
      val theirs = writer.getFields.asScala.toArray
      val read = AvroRecords.sources(writer, reader, declared)
      if (theirs.indices.forall(read.contains(_))) Nothing
      else new Fields(theirs, theirs.indices.map(each => !read.contains(each)).toArray)
    case _ => Nothing
  }

  private final class Fields(fields: Array[Schema.Field], kept: Array[Boolean]) extends Rescue {
    private val heads = fields.map(each => s"${JsonText.quoted(each.name)}:")
    private val shapes = fields.map(each => AvroShapes.of(each.schema))
    private val tellings = fields.map(each => AvroJson.of(each.schema))

    def apply(in: Cursor): Any = {
      val text = new Text("{")
      fields.indices.foreach { place =>
        if (!kept(place)) shapes(place).walk(in)
        else {
          if (text.length > 1) text.append(',')
          text.append(heads(place))
          try tellings(place)(in, text)
          catch { case misfit: Misfit => throw misfit.within(fields(place).name) }
        }
      }
      UTF8String.fromString(text.append('}').toString)
    }
  }
}
