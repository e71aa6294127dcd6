package sluice

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StructType

/** Changes: events of Debezium, as a struct of `op`, `source`, `before` and `after`, of which the one
  * is kept that the op is about.
  */
private[sluice] object Changes {
  val Names: Seq[String] = Seq("op", "source", "before", "after")
  val Op = 0
  val Before = 2
  val After = 3
  val Neither: Int = -1

  val Expected = "expected a change event of Debezium"
  val AsText: String = "expected the fields of a row, found text, as MongoDB's connector writes it: " +
    "declare the one column `after STRING`"

  /** Whether a struct is that of an event's parts. */
  def areParts(declared: StructType): Boolean =
    declared.nonEmpty && declared(Op).metadata.contains("event")

  /** What has no op, by the names that it has. */
  def told(names: Seq[String]): String = s"$Expected, found ${kind(names.toSet, names)}"

  private def kind(has: Set[String], names: Seq[String]): String =
    if (has == Set("ts_ms")) "a heartbeat"
    else if (Set("status", "id", "event_count").subsetOf(has)) "a transaction's begin or end"
    else if (has("tableChanges") || (has("ddl") && has("databaseName"))) "a change of a schema"
    else if (has("__op") || has("__deleted"))
      s"a row that ExtractNewRecordState took out of its event (${JsonUnmatched.listed(names)})"
    else if (names.isEmpty) "an object without fields"
    else s"an object of other fields (${JsonUnmatched.listed(names)})"

  /** Which of the two states of the row the op is about. */
  def side(row: GenericInternalRow): Int = row.getUTF8String(Op).toString match {
    case "c" | "u" | "r" => After
    case "d" => Before
    case _ => Neither
  }

  /** Leaves that one alone. Throws a Misfit for what is no event. With `bare` one may lack its row. */
  def settle(row: GenericInternalRow, bare: Boolean): Unit = {
    if (row.isNullAt(Op)) throw new Misfit(s"$Expected, found none of its ops")
    val (op, kept) = (row.getUTF8String(Op).toString, side(row))
    for (other <- Seq(Before, After) if other != kept) row.update(other, null)
    val misfit = Misfit.first(row.values, Names(_))
    if (misfit != null) throw misfit
    if (kept == Neither && op != "t" && op != "m")
      throw new Misfit(s"expected one of c, u, d, r, t, m, found ${Misfit.shortened(op)}", "op")
    if (kept == After && row.isNullAt(After) && !bare)
      throw new Misfit(s"expected the row, as op is $op, found none", "after")
  }
}
