package sluice

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

/** Cells: the places of the structs within a record, bounded, or one of a megabyte could unfold to
  * more than a JVM's memory: an array of empty objects, each a struct of a thousand columns.
  */
private[sluice] object Cells {
  private val Most = 16777216

  private val taken = ThreadLocal.withInitial[Array[Int]](() => Array(0))

  /** Another record begins on this thread. */
  def begin(): Unit = taken.get()(0) = 0

  /** Throws a Misfit. */
  def row(width: Int): GenericInternalRow = {
    take(width)
    new GenericInternalRow(width)
  }

  /** As much as so many fields. Throws a Misfit. */
  def take(cells: Int): Unit = {
    val count = taken.get()
    count(0) += cells
    if (count(0) > Most)
      throw new Misfit("expected at most 16,777,216 fields in the structs of a record, found more")
  }
}
