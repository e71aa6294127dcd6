package sluice

import org.apache.spark.sql.catalyst.expressions.{Expression, Predicate, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.util.sketch.BloomFilter

/** Whether a bloom filter may hold a hash; the hash of each key that went into it, it does hold.
  *
  * Delta writes the condition of a MERGE into its commit: the filter is no literal, which would be
  * written there.
  */
case class MayHold(child: Expression, keys: BloomFilter) extends UnaryExpression with Predicate {
  override def prettyName: String = "sluice_may_hold"

  override protected def nullSafeEval(hash: Any): Any =
    keys.mightContainLong(hash.asInstanceOf[Long])

  override protected def doGenCode(context: CodegenContext, code: ExprCode): ExprCode = {
    val filter = context.addReferenceObj("keys", keys, classOf[BloomFilter].getName)
    defineCodeGen(context, code, hash => s"$filter.mightContainLong($hash)")
  }

  override protected def withNewChildInternal(child: Expression): MayHold = copy(child = child)
}
