package sluice

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, VariantType}
import org.apache.spark.unsafe.types.UTF8String

/** JSON text as a VARIANT; null where it is none, or has a number that a VARIANT has not. */
case class VariantOfText(child: Expression) extends UnaryExpression with CodegenFallback {
  override def prettyName: String = "sluice_variant"

  override def dataType: DataType = VariantType

  override def nullable: Boolean = true

  override protected def nullSafeEval(text: Any): Any =
    try {
      val bytes = text.asInstanceOf[UTF8String].getBytes
      val in = if (JsonText.isClean(bytes)) JsonText.parser(bytes) else null
      if (in == null || in.nextToken() == null) null
      else
        JsonVariant.of(in) match {
          case _: Misfit => null
          case found => if (in.nextToken() == null) found else null
        }
    } catch { case _: JsonProcessingException | _: Misfit => null }

  override protected def withNewChildInternal(child: Expression): VariantOfText = copy(child = child)
}
