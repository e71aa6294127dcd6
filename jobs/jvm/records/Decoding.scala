package sluice

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.util.control.NonFatal

/** Decoding: the functions that read a record's bytes as a struct, in one pass that checks them too.
  *
  *  - `sluice_avro(bytes, writer, reader)`: both schemas are literals
  *  - `sluice_json(bytes, columns, unit, rescue)`: the columns as Spark's own JSON of a struct
  *  - `sluice_protobuf(struct(bytes, header), columns, files, message, writers)`: as in
  *    ProtobufRecord
  */
class Decoding extends SparkSessionExtensionsProvider {
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
    add("sluice_avro", classOf[AvroDatum], 3) { given =>
      AvroDatum(given(0), text(given(1)), text(given(2)))
    }
    add("sluice_json", classOf[JsonRecord], 4) { given =>
      JsonRecord(given(0), text(given(1)), text(given(2)), given(3).eval() == true)
    }
    add("sluice_protobuf", classOf[ProtobufRecord], 5) { given =>
      ProtobufRecord(given(0), text(given(1)), text(given(2)), text(given(3)), text(given(4)))
    }
  }
}

/** A record's bytes, or what else there is of it, as a struct. Its last field, `_error`, says why
  * they are none; then all others are null.
  */
abstract class Decoded[Given] extends UnaryExpression {
  override def dataType: StructType
  override def nullable: Boolean = true

  protected def read(given: Given): GenericInternalRow

  /** Never an exception, whatever the bytes are. */
  override def nullSafeEval(input: Any): Any =
    try {
      Cells.begin()
      read(input.asInstanceOf[Given])
    } catch {
      case misfit: Misfit => failed(misfit.told)
      case NonFatal(problem) =>
        failed(Option(problem.getMessage).getOrElse(problem.getClass.getName).take(300))
    }

  @transient protected lazy val width: Int = dataType.length

  protected def failed(told: String): GenericInternalRow = {
    val row = new GenericInternalRow(width)
    row.update(width - 1, UTF8String.fromString(told))
    row
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val self = ctx.addReferenceObj("decoded", this)
    val kind = CodeGenerator.javaType(dataType: DataType)
    nullSafeCodeGen(ctx, ev, given => s"${ev.value} = ($kind) $self.nullSafeEval($given);")
  }
}
