package sluice

import org.apache.avro.Schema
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.util.control.NonFatal

/** `sluice_avro(bytes, writer, reader)`: Avro's bytes as a struct; both schemas are literals.
  *
  * The fields are the reader's, or `value` where its schema is no record, and the last one, `_error`:
  * why the bytes are not exactly one datum of the writer's that can be read; then the others are
  * null.
  */
class AvroChecks extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    val builder = (given: Seq[Expression]) => {
      require(given.length == 3, s"sluice_avro: expected 3 arguments, found ${given.length}")
      AvroDatum(given(0), given(1).eval().toString, given(2).eval().toString)
    }
    val info = new ExpressionInfo(classOf[AvroDatum].getName, "sluice_avro")
    extensions.injectFunction((FunctionIdentifier("sluice_avro"), info, builder))
  }
}

case class AvroDatum(child: Expression, writer: String, reader: String) extends UnaryExpression {
  @transient private lazy val ours = AvroDatum.parsed(reader)
  @transient private lazy val isRecord = ours.getType == Schema.Type.RECORD
  @transient private lazy val reading = AvroReads.of(AvroDatum.parsed(writer), ours)
  @transient private lazy val width = dataType.length

  override lazy val dataType: StructType = {
    val fields =
      if (isRecord) AvroTypes.fields(ours) else StructType(Seq(StructField("value", AvroTypes.column(ours))))
    fields.add("_error", StringType)
  }

  override def prettyName: String = "sluice_avro"
  override def nullable: Boolean = true

  /** Never an exception, whatever the bytes are. */
  override def nullSafeEval(input: Any): Any =
    try read(new AvroBytes.Cursor(input.asInstanceOf[Array[Byte]]))
    catch {
      case misfit: AvroBytes.Misfit => failed(misfit.told)
      case NonFatal(problem) =>
        failed(Option(problem.getMessage).getOrElse(problem.getClass.getName).take(300))
    }

  private def read(in: AvroBytes.Cursor): GenericInternalRow = {
    val row = new GenericInternalRow(width)
    reading match {
      case fields: AvroRecords.Fields => fields.fill(in, row)
      case other if isRecord =>
        val found = other(in).asInstanceOf[GenericInternalRow]
        System.arraycopy(found.values, 0, row.values, 0, width - 1)
      case other => row.update(0, other(in))
    }
    if (in.left > 0)
      throw new AvroBytes.Misfit(s"expected the end of the record, found ${in.left} more bytes")
    row
  }

  private def failed(told: String): GenericInternalRow = {
    val row = new GenericInternalRow(width)
    row.update(width - 1, UTF8String.fromString(told))
    row
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val self = ctx.addReferenceObj("datum", this)
    val kind = CodeGenerator.javaType(dataType: DataType)
    nullSafeCodeGen(ctx, ev, bytes => s"${ev.value} = ($kind) $self.nullSafeEval($bytes);")
  }

  override protected def withNewChildInternal(child: Expression): AvroDatum = copy(child = child)
}

object AvroDatum {
  private def parsed(text: String): Schema =
    new Schema.Parser().setValidateDefaults(false).parse(text)
}
