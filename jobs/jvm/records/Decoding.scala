package sluice

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.expressions.aggregate.BloomFilterAggregate
import org.apache.spark.util.sketch.BloomFilter

/** Decoding: the functions that read a record's bytes as a struct, in one pass that checks them too.
  *
  *  - `sluice_avro(record, columns, frames, reader, rescue)`
  *  - `sluice_json(record, columns, frames, at, unit, rescue, unmatched)`
  *  - `sluice_json_converted(…)`, with the same: of Connect's converter
  *  - `sluice_json_change(…)`, with the same: an event of Debezium
  *  - `sluice_json_value(record, columns, frames, at, rescue)`: the record is one column, as JSON text
  *  - `sluice_protobuf(record, columns, frames, files, message)`
  *  - `sluice_payload(record, compression, frame, given)` reads the bytes that the others decode
  *  - `sluice_schema_key(record, header)` reads nothing but which schema it names
  *  - `sluice_record_name(record, frames)` nor but which record it is, by its schema
  *  - `sluice_noted(noted, dropped, topic, partition, offset)` is no record's, but a task's (Noted)
  *  - `sluice_connect_decimal(bytes, precision, scale)` is no record's, but a field's
  *  - `sluice_variant(text)` nor is this one: it reads JSON text
  *  - `sluice_key_filter(hash, keys)`, of about so many, and `sluice_may_hold(filter, hash)` are a
  *    state table's (MayHold)
  *
  * `record` is a struct of the bytes and, where `frames` (as in Frames) is not empty, the headers; all
  * others are literals. `columns` is Spark's own JSON of a struct, `at` where the record is within the
  * JSON, or empty (JsonPlace).
  */
class Decoding extends SparkSessionExtensionsProvider {
  private type JsonBuild =
    (Expression, String, String, String, String, Boolean, String) => Expression

  override def apply(extensions: SparkSessionExtensions): Unit = {
    def add(name: String, made: Class[_], count: Int)(build: Seq[Expression] => Expression): Unit =
      extensions.injectFunction(
        (
          FunctionIdentifier(name),
          new ExpressionInfo(made.getName, name),
          given => {
            require(given.length == count, s"$name: expected $count arguments, found ${given.length}")
            build(given)
          }
        )
      )
    def text(literal: Expression): String = literal.eval().toString
    def truth(literal: Expression): Boolean = literal.eval() == true
    def addJson(name: String, made: Class[_], build: JsonBuild): Unit = add(name, made, 7) { given =>
      val (columns, frames, at) = (text(given(1)), text(given(2)), text(given(3)))
      build(given(0), columns, frames, at, text(given(4)), truth(given(5)), text(given(6)))
    }
    add("sluice_avro", classOf[AvroDatum], 5) { given =>
      AvroDatum(given(0), text(given(1)), text(given(2)), text(given(3)), truth(given(4)))
    }
    addJson("sluice_json", classOf[JsonRecord], JsonRecord(_, _, _, _, _, _, _))
    addJson("sluice_json_converted", classOf[JsonConverted], JsonConverted(_, _, _, _, _, _, _))
    addJson("sluice_json_change", classOf[JsonChange], JsonChange(_, _, _, _, _, _, _))
    add("sluice_json_value", classOf[JsonValue], 5) { given =>
      JsonValue(given(0), text(given(1)), text(given(2)), text(given(3)), truth(given(4)))
    }
    add("sluice_protobuf", classOf[ProtobufRecord], 5) { given =>
      ProtobufRecord(given(0), text(given(1)), text(given(2)), text(given(3)), text(given(4)))
    }
    add("sluice_connect_decimal", classOf[ConnectDecimal], 3) { given =>
      ConnectDecimal(given(0), given(1).eval().asInstanceOf[Int], given(2).eval().asInstanceOf[Int])
    }
    add("sluice_variant", classOf[VariantOfText], 1)(given => VariantOfText(given(0)))
    add("sluice_payload", classOf[Payload], 4) { given =>
      Payload(given(0), text(given(1)), text(given(2)), text(given(3)))
    }
    add("sluice_schema_key", classOf[SchemaKey], 2) { given =>
      SchemaKey(given(0), text(given(1)))
    }
    add("sluice_record_name", classOf[RecordName], 2) { given =>
      RecordName(given(0), text(given(1)))
    }
    add("sluice_noted", classOf[Noted], 5)(Noted(_))
    add("sluice_key_filter", classOf[BloomFilterAggregate], 2) { given =>
      new BloomFilterAggregate(given(0), given(1))
    }
    add("sluice_may_hold", classOf[MayHold], 2) { given =>
      MayHold(given(1), BloomFilter.readFrom(given(0).eval().asInstanceOf[Array[Byte]]))
    }
  }
}
