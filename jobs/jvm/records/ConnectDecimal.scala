package sluice

import java.math.{BigDecimal, BigInteger}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType}

/** Kafka Connect's decimal: the bytes of an unscaled number, its sign in the first, biggest first.
  *
  * Null where it has more digits than the column.
  */
case class ConnectDecimal(child: Expression, precision: Int, scale: Int)
    extends UnaryExpression
    with CodegenFallback {
  override def prettyName: String = "sluice_connect_decimal"

  override def dataType: DataType = DecimalType(precision, scale)

  override def nullable: Boolean = true

  override protected def nullSafeEval(bytes: Any): Any = {
    val digits = bytes.asInstanceOf[Array[Byte]]
    val unscaled = if (digits.isEmpty) null else new BigInteger(digits)
    // 38 digits are fewer than 2^127; of many more, nobody should count the digits.
    if (unscaled == null || unscaled.bitLength > 127) null
    else {
      val number = new BigDecimal(unscaled, scale)
      if (number.precision > precision) null else Decimal(number, precision, scale)
    }
  }

  override protected def withNewChildInternal(child: Expression): ConnectDecimal =
    copy(child = child)
}
