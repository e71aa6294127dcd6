package sluice

import io.delta.storage.HDFSLogStore
import java.io.IOException
import java.lang.{Boolean => JBoolean}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.{Iterator => JIterator}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.delta.actions.{Action, AddFile}
import org.apache.spark.sql.delta.util.DeltaFileOperations.absolutePath

/** Delta's log store for local paths: a commit is a hard link, which the kernel makes only where
  * nothing is. delta-rs commits in the same way.
  *
  * Delta's own one looks first and then renames, which overwrites what another process has
  * committed in between.
  *
  * A commit that adds a file which is not here is refused: a worker has written it elsewhere. So is
  * one whose predecessor is not here any more, or whose batch was prepared on another log.
  */
class LinkLogStore(settings: Configuration) extends HDFSLogStore(settings) {

  @throws[IOException]
  override def write(
      commit: Path, actions: JIterator[String], overwrite: JBoolean, conf: Configuration): Unit =
    if (overwrite) super.write(commit, actions, overwrite, conf)
    else {
      // Without checksum files: no other Delta writer leaves any.
      val files = FileSystem.getLocal(conf).getRawFileSystem
      val draft = createTempPath(commit)
      // A draft would make the folder anew.
      Predecessor.require(files, commit)
      var basedOn = Option.empty[BasedOn]
      try {
        val out = files.create(draft, false)
        try actions.forEachRemaining { action =>
          requireHere(commit, Action.fromJson(action))
          basedOn = basedOn.orElse(BasedOn.of(action))
          out.write(s"$action\n".getBytes(UTF_8))
        }
        finally out.close()
        Predecessor.require(files, commit)
        basedOn.foreach(_.require(files, commit))
        Files.createLink(local(commit), local(draft))
      } finally files.delete(draft, false)
    }

  private def requireHere(commit: Path, action: Action): Unit = action match {
    case added: AddFile =>
      val file = absolutePath(commit.getParent.getParent.toString, added.path)
      if (Option(file.toUri.getScheme).forall(_ == "file") && !Files.exists(local(file)))
        throw new Refused("SLUICE_UNSEEN", "file" -> file.toUri.getPath)
    case _ =>
  }

  private def local(path: Path) = Paths.get(path.toUri.getPath)
}
