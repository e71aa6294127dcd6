package sluice

import io.delta.storage.S3SingleDriverLogStore
import java.io.{FileNotFoundException, IOException, InterruptedIOException}
import java.lang.{Boolean => JBoolean}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.FileAlreadyExistsException
import java.util.{Iterator => JIterator, UUID}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.fs.s3a.RemoteFileChangedException
import scala.jdk.CollectionConverters._
import software.amazon.awssdk.awscore.exception.AwsServiceException

/** Delta's log store for S3: a commit is a PUT with `If-None-Match: *`, which the server accepts only
  * where nothing is. delta-rs commits in the same way.
  *
  * Delta's own one looks first and then PUTs, which overwrites what another process has committed in
  * between. A commit whose predecessor is not there any more is refused, and one whose batch was
  * prepared on another log. To be replaced by Delta's own as soon as a release has one (decision 18).
  */
class S3LogStore(settings: Configuration) extends S3SingleDriverLogStore(settings) {
  import S3LogStore._

  @throws[IOException]
  override def write(
      commit: Path, actions: JIterator[String], overwrite: JBoolean, conf: Configuration): Unit =
    if (overwrite) super.write(commit, actions, overwrite, conf)
    else {
      val files = commit.getFileSystem(conf)
      val lines = actions.asScala.toVector
      val content = lines.map(action => s"$action\n").mkString.getBytes(UTF_8)
      Predecessor.require(files, commit)
      lines.flatMap(BasedOn.of(_)).foreach(_.require(files, commit))
      put(files, commit, content, UUID.randomUUID.toString, attempt = 1)
    }

  private def put(
      files: FileSystem, commit: Path, content: Array[Byte], id: String, attempt: Int): Unit =
    try putIfAbsent(files, commit, content, id)
    catch {
      case refused: org.apache.hadoop.fs.FileAlreadyExistsException => throw taken(commit, refused)
      case failed: IOException =>
        writerOf(files, commit, failed) match {
          // It landed, and the answer was lost.
          case Some(writer) if writer.contains(id) => ()
          case Some(_) if isConflict(failed)       => throw taken(commit, failed)
          // Another PUT was under way, and has failed since: S3 asks to repeat after its 409.
          case None if isConflict(failed) && attempt < Attempts =>
            pause(attempt, failed)
            put(files, commit, content, id, attempt + 1)
          case found =>
            if (found.isEmpty) removeMarkers(files, commit.getParent)
            throw failed
        }
    }

  /** The empty folders that a table's creation leaves where it fails: Spark would take them for a
    * table. One that holds anything is not removed.
    */
  private def removeMarkers(files: FileSystem, log: Path): Unit =
    try Seq(new Path(log, "_staged_commits"), log).foreach(files.delete(_, false))
    catch { case _: IOException => () }

  private def putIfAbsent(
      files: FileSystem, commit: Path, content: Array[Byte], id: String): Unit = {
    // must: a file system that does not know the option refuses, instead of overwriting.
    val draft = files.createFile(commit).create().overwrite(false).recursive()
      .must("fs.option.create.conditional.overwrite", true)
      .must(s"fs.s3a.create.header.$WriteId", id)
      .build()
    // Closing is what PUTs: half a commit, as on a full disk of buffers, must not become one.
    try draft.write(content)
    catch { case failed: Throwable => draft.abort(); throw failed }
    draft.close()
  }

  /** None where nothing is there; else the write id of what is, as far as it has one. */
  private def writerOf(files: FileSystem, commit: Path, failed: IOException): Option[Option[String]] =
    try {
      // Some servers give a header's name back in another case.
      val found = files.getXAttrs(commit).asScala.collectFirst {
        case (name, value) if name.equalsIgnoreCase(s"header.$WriteId") => new String(value, UTF_8)
      }
      Some(found)
    } catch {
      case _: FileNotFoundException => None
      case unknown: IOException     => failed.addSuppressed(unknown); throw failed
    }

  private def isConflict(problem: Throwable): Boolean =
    Iterator.iterate(problem)(_.getCause).takeWhile(_ != null).exists {
      case _: RemoteFileChangedException => true
      case answer: AwsServiceException   => answer.statusCode == 409 || answer.statusCode == 412
      case _                             => false
    }

  private def taken(commit: Path, cause: Throwable): IOException = {
    val problem = new FileAlreadyExistsException(commit.toString)
    problem.initCause(cause)
    problem
  }

  private def pause(attempt: Int, failed: IOException): Unit =
    try Thread.sleep(50L << attempt)
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        val interrupted = new InterruptedIOException("interrupted")
        interrupted.initCause(failed)
        throw interrupted
    }
}

object S3LogStore {
  private val WriteId = "sluice-write-id"
  private val Attempts = 6
}
