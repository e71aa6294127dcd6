package sluice

import java.io.FileNotFoundException
import org.apache.hadoop.fs.{FileSystem, Path}

/** The version before a commit: it must be there, as its commit, or as a checkpoint above which log
  * cleanup has left nothing older.
  *
  * A process that is at work while an older copy of a table is put back would otherwise leave a log
  * with a hole, which nobody can read.
  */
object Predecessor {
  private val Version = raw"(\d{20})\.json".r

  def require(files: FileSystem, commit: Path): Unit = commit.getName match {
    case Version(number) if number.toLong > 0 =>
      val before = f"${number.toLong - 1}%020d"
      if (!files.exists(new Path(commit.getParent, s"$before.json")) &&
        !hasCheckpoint(files, commit.getParent, before))
        throw new Refused("SLUICE_NO_PREDECESSOR", "commit" -> commit.toString)
    case _ =>
  }

  private def hasCheckpoint(files: FileSystem, log: Path, version: String): Boolean =
    try files.listStatus(log).exists(_.getPath.getName.startsWith(s"$version.checkpoint."))
    catch { case _: FileNotFoundException => false }
}
