package sluice

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.unsafe.types.UTF8String
import scala.collection.mutable

/** How many records the tasks of a tag have read so far: `VALUES (sluice_records_read('tag'))`,
  * which needs no task of its own.
  *
  * A tag is that of SparkSession.addTag. Tasks tell their counts with the executors' heartbeats.
  */
class RecordsRead extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    // A session is made in a context that runs.
    RecordsRead.listenTo(SparkContext.getOrCreate())
    extensions.injectFunction(
      (
        FunctionIdentifier("sluice_records_read"),
        new ExpressionInfo(classOf[RecordsReadUnder].getName, "sluice_records_read"),
        (given: Seq[Expression]) => RecordsReadUnder(given.head)
      )
    )
  }
}

object RecordsRead extends SparkListener {
  private val Mark = "sluice-reading-"
  private val Remembered = 1000
  private var context: Option[SparkContext] = None
  // Stage → the tags of its job, whose names begin with their session's; stage → task → records.
  private val tags = mutable.LinkedHashMap.empty[Int, Seq[String]]
  private val counts = mutable.Map.empty[Int, mutable.Map[Long, Long]]

  def listenTo(active: SparkContext): Unit = synchronized {
    if (!context.contains(active)) {
      context = Some(active)
      active.addSparkListener(this)
    }
  }

  def under(tag: String): Long = synchronized {
    val mine = tags.collect { case (stage, named) if named.exists(_.endsWith(tag)) => stage }
    mine.flatMap(counts.get).map(_.values.sum).sum
  }

  override def onJobStart(job: SparkListenerJobStart): Unit = synchronized {
    val named = Option(job.properties).flatMap(each => Option(each.getProperty("spark.job.tags")))
    val ours = named.toSeq.flatMap(_.split(",")).filter(_.contains(Mark))
    if (ours.nonEmpty) job.stageIds.foreach(tags.put(_, ours))
    tags.keys.take(tags.size - Remembered).toSeq.foreach { stage =>
      tags.remove(stage)
      counts.remove(stage)
    }
  }

  // Heartbeats name no count of what was read. The operator with the most rows is the one that reads.
  override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
    for ((task, stage, _, counted) <- update.accumUpdates) {
      val rows = counted.filter(_.name.contains("number of output rows")).flatMap(_.update)
      rows.collect { case count: Long => count }.maxOption.foreach(note(stage, task, _))
    }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
    if (end.taskMetrics != null)
      note(end.stageId, end.taskInfo.taskId, end.taskMetrics.inputMetrics.recordsRead)

  private def note(stage: Int, task: Long, count: Long): Unit = synchronized {
    if (tags.contains(stage)) counts.getOrElseUpdate(stage, mutable.Map.empty).put(task, count)
  }
}

/** Known while a statement is planned: it costs no job. */
case class RecordsReadUnder(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def foldable: Boolean = true
  override def eval(row: InternalRow): Any =
    RecordsRead.under(child.eval(row).asInstanceOf[UTF8String].toString)
  override protected def withNewChildInternal(newChild: Expression): Expression =
    copy(child = newChild)
}
