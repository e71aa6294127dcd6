package sluice

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import scala.collection.mutable

/** Ends jobs that nobody works on: Spark itself waits for executors without end.
  *
  * The limit is Spark's own for tasks that no executor may run any more, 120 s by default:
  * `spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout`.
  */
class StarvedJobs extends SparkSessionExtensionsProvider {
  // A session is made in a context that runs.
  override def apply(extensions: SparkSessionExtensions): Unit =
    StarvedJobs.watch(SparkContext.getOrCreate())
}

object StarvedJobs {
  private val Limit = "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout"
  private val Default = "120s"
  private var watched: Option[SparkContext] = None

  def watch(active: SparkContext): Unit = synchronized {
    if (!watched.contains(active)) {
      watched = Some(active)
      val watch = new StarvedJobs.Watch(active)
      active.addSparkListener(watch)
      watch.start()
    }
  }

  /** Counts its own seconds, not the clock's: a JVM that was frozen has not waited. */
  private class Watch(context: SparkContext) extends SparkListener {
    private val limit = context.getConf.getTimeAsSeconds(Limit, Default)
    // Each with the second in which it began. Spark may drop the event of a job's end.
    private val jobs = mutable.Map.empty[Int, Long]
    private var seconds, lastSign = 0L

    def start(): Unit = {
      val ticking = new Thread(() => while (!context.isStopped) tick(), "starved jobs")
      ticking.setDaemon(true)
      ticking.start()
    }

    private def tick(): Unit = {
      Thread.sleep(1000)
      for (job <- starved()) context.cancelJob(job, reason)
    }

    private def starved(): Seq[Int] = synchronized {
      seconds += 1
      val found = jobs.collect { case (job, began) if seconds - began.max(lastSign) >= limit => job }
      jobs --= found
      found.toSeq
    }

    private def reason: String = {
      // The driver is listed among them.
      val executors = context.statusTracker.getExecutorInfos.length - 1
      s"SLUICE-STARVED of ${context.master}: no task has run for $limit s, executors: $executors"
    }

    private def alive(): Unit = synchronized { lastSign = seconds }

    override def onJobStart(job: SparkListenerJobStart): Unit =
      synchronized { jobs(job.jobId) = seconds }
    override def onJobEnd(job: SparkListenerJobEnd): Unit = synchronized { jobs -= job.jobId }
    override def onTaskStart(task: SparkListenerTaskStart): Unit = alive()
    override def onTaskEnd(task: SparkListenerTaskEnd): Unit = alive()
    // A heartbeat has an entry for each task that runs.
    override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
      if (update.accumUpdates.nonEmpty) alive()
  }
}
