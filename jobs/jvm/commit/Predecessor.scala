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

  def require(files: FileSystem, commit: Path): Unit =
    versionOf(commit).filter(_ > 0).map(_ - 1).foreach { before =>
      if (!files.exists(new Path(commit.getParent, fileOf(before))) &&
        !hasCheckpoint(files, commit.getParent, before))
        throw new Refused("SLUICE_NO_PREDECESSOR", "commit" -> commit.toString)
    }

  /** None where it is not a commit. */
  def versionOf(commit: Path): Option[Long] = commit.getName match {
    case Version(number) => Some(number.toLong)
    case _               => None
  }

  def fileOf(version: Long): String = f"$version%020d.json"

  private def hasCheckpoint(files: FileSystem, log: Path, version: Long): Boolean =
    try files.listStatus(log).exists(_.getPath.getName.startsWith(f"$version%020d.checkpoint."))
    catch { case _: FileNotFoundException => false }
}
