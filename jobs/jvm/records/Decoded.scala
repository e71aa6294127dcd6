package sluice

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String
import scala.util.control.NonFatal

/** A record, decoded: a struct of the columns, of `_rescued` where asked for, and of `(error)`, which
  * says why they are none; then all others are null. Where asked for, `(lacking)` is before it. A
  * null that Connect wrote is null itself.
  *
  * `frames` is empty where records are bare (Frames).
  */
abstract class Decoded extends UnaryExpression {
  def columns: String
  def rescue: Boolean

  /** Whether what a record lacks is told beside its columns, and is not its error. */
  protected def apart: Boolean = false

  @transient protected lazy val declared: StructType =
    DataType.fromJson(columns).asInstanceOf[StructType]

  override lazy val dataType: StructType = {
    prepare()
    val kept = if (rescue) declared.add("_rescued", StringType) else declared
    val told = if (apart) kept.add("(lacking)", StringType) else kept
    Decoded.named(told).add("(error)", StringType)
  }

  /** What cannot be used fails here, where the query is made. */
  protected def prepare(): Unit = ()

  override def nullable: Boolean = true

  // A plan is logged as text, and each of the others may be as long as hundreds of schemas.
  override protected def stringArgs: Iterator[Any] = Iterator(child)

  protected def read(record: InternalRow): InternalRow

  /** Never an exception, whatever the bytes are. */
  override def nullSafeEval(record: Any): Any =
    try {
      Cells.begin()
      read(record.asInstanceOf[InternalRow])
    } catch { case NonFatal(problem) => failed(Decoded.why(problem)) }

  @transient protected lazy val width: Int = dataType.length

  protected def failed(told: String): GenericInternalRow = {
    val row = new GenericInternalRow(width)
    row.update(width - 1, UTF8String.fromString(told))
    row
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val self = ctx.addReferenceObj("decoded", this)
    val kind = CodeGenerator.javaType(dataType: DataType)
    nullSafeCodeGen(
      ctx,
      ev,
      given =>
        s"${ev.value} = ($kind) $self.nullSafeEval($given); ${ev.isNull} = ${ev.value} == null;"
    )
  }
}

object Decoded {

  /** Fields are found by names that a table may not have, and are called `as` where these say so. */
  private def named(fields: StructType): StructType = StructType(fields.map {
    case field if field.metadata.contains("as") =>
      val within = field.dataType match {
        case inner: StructType => named(inner)
        case other => other
      }
      StructField(field.metadata.getString("as"), within)
    case field => field
  })

  def why(problem: Throwable): String = problem match {
    case misfit: Misfit => misfit.told
    case other => Option(other.getMessage).getOrElse(other.getClass.getName).take(300)
  }
}
