package sluice

import org.apache.avro.Schema
import org.apache.avro.generic.GenericDatumReader
import org.apache.avro.io.DecoderFactory
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import scala.util.control.NonFatal

/** What is wrong with Avro's bytes, as text; null where nothing is. Both take schemas as literals.
  *
  * `sluice_avro_misfit(bytes, writer, reader)`: whether the bytes are exactly one datum of the
  * writer's schema, without records that the reader's does not name.
  * `sluice_avro_unread(bytes, writer, reader)`: why Avro cannot read such a datum as the reader's.
  */
class AvroChecks extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    inject(
      extensions,
      "sluice_avro_misfit",
      3,
      given => AvroMisfit(given(0), text(given(1)), text(given(2)))
    )
    inject(
      extensions,
      "sluice_avro_unread",
      3,
      given => AvroUnread(given(0), text(given(1)), text(given(2)))
    )
  }

  private def inject(
      extensions: SparkSessionExtensions,
      name: String,
      takes: Int,
      make: Seq[Expression] => Expression
  ): Unit = {
    val builder = (given: Seq[Expression]) => {
      require(given.length == takes, s"$name: expected $takes arguments, found ${given.length}")
      make(given)
    }
    extensions.injectFunction(
      (FunctionIdentifier(name), new ExpressionInfo(classOf[AvroMisfit].getName, name), builder)
    )
  }

  private def text(given: Expression): String = given.eval().toString
}

/** A text about bytes that is never an exception, whatever they are. */
abstract class AvroCheck extends UnaryExpression {
  protected def told(bytes: Array[Byte]): String

  override def dataType: DataType = StringType
  override def nullable: Boolean = true

  override def nullSafeEval(input: Any): Any = UTF8String.fromString(
    try told(input.asInstanceOf[Array[Byte]])
    catch { case NonFatal(problem) => AvroCheck.message(problem) }
  )

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val self = ctx.addReferenceObj("check", this)
    nullSafeCodeGen(
      ctx,
      ev,
      bytes =>
        s"""${ev.value} = (UTF8String) $self.nullSafeEval($bytes);
           |${ev.isNull} = ${ev.value} == null;""".stripMargin
    )
  }
}

object AvroCheck {
  def message(problem: Throwable): String =
    Option(problem.getMessage).getOrElse(problem.getClass.getName).take(300)

  /** As Spark's from_avro reads a schema. */
  def parsed(text: String): Schema = new Schema.Parser().setValidateDefaults(false).parse(text)
}

case class AvroMisfit(child: Expression, writer: String, reader: String) extends AvroCheck {
  @transient private lazy val shape =
    AvroShapes.of(AvroCheck.parsed(writer), AvroCheck.parsed(reader))

  override def prettyName: String = "sluice_avro_misfit"

  override protected def told(bytes: Array[Byte]): String =
    try {
      val in = new AvroShapes.Cursor(bytes)
      shape.walk(in)
      if (in.left == 0) null
      else s"expected the end of the record, found ${in.left} more bytes"
    } catch { case misfit: AvroShapes.Misfit => misfit.told }

  override protected def withNewChildInternal(child: Expression): AvroMisfit = copy(child = child)
}

case class AvroUnread(child: Expression, writer: String, reader: String) extends AvroCheck {
  @transient private lazy val reading =
    new GenericDatumReader[Any](AvroCheck.parsed(writer), AvroCheck.parsed(reader))

  override def prettyName: String = "sluice_avro_unread"

  override protected def told(bytes: Array[Byte]): String = {
    reading.read(null, DecoderFactory.get().binaryDecoder(bytes, null))
    null
  }

  override protected def withNewChildInternal(child: Expression): AvroUnread = copy(child = child)
}
