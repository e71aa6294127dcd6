package sluice

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** The key of the schema that a record names: its number in decimal digits, or its GUID. Null where
  * it names none.
  */
case class SchemaKey(child: Expression, header: String)
    extends UnaryExpression
    with CodegenFallback {
  @transient private lazy val name = UTF8String.fromString(header)

  override def dataType: DataType = StringType
  override def nullable: Boolean = true
  override def prettyName: String = "sluice_schema_key"

  override protected def nullSafeEval(found: Any): Any = {
    val record = found.asInstanceOf[InternalRow]
    if (record.isNullAt(0)) null else UTF8String.fromString(new Frame(record, name).key)
  }

  override protected def withNewChildInternal(child: Expression): SchemaKey = copy(child = child)
}
