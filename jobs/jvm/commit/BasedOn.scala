package sluice

import com.fasterxml.jackson.databind.ObjectMapper
import java.io.FileNotFoundException
import java.nio.ByteBuffer
import java.security.MessageDigest
import org.apache.hadoop.fs.{FileSystem, Path}
import scala.util.Try

/** The version of a log on which a batch was prepared, as its commit says in its `userMetadata`, with
  * a digest of the commit there. No other table's log has it, nor another copy of this one.
  *
  * In Python: jobs/sluice/tables/based_on.py.
  */
final class BasedOn(version: Long, digest: Long) {

  /** Refuses a commit to a log that is another one by now. Log cleanup may have removed the version. */
  def require(files: FileSystem, commit: Path): Unit = {
    val goesBack = Predecessor.versionOf(commit).exists(_ <= version)
    if (goesBack || found(files, commit.getParent).exists(_ != digest))
      throw new Refused("SLUICE_ANOTHER_LOG", "commit" -> commit.toString)
  }

  private def found(files: FileSystem, log: Path): Option[Long] =
    try {
      val stored = files.open(new Path(log, Predecessor.fileOf(version)))
      try Some(BasedOn.digestOf(stored.readAllBytes())) finally stored.close()
    } catch { case _: FileNotFoundException => None }
}

object BasedOn {
  private val Json = new ObjectMapper

  /** What an action of a commit says; None where it is not the one that does. */
  def of(action: String): Option[BasedOn] =
    if (!action.contains("based_on")) None
    else
      Try {
        // Others may write anything there.
        val told = Json.readTree(Json.readTree(action).at("/commitInfo/userMetadata").asText)
        val found = told.at("/sluice/based_on")
        new BasedOn(found.required("version").asLong, found.required("digest").asLong)
      }.toOption

  private def digestOf(content: Array[Byte]): Long = {
    val sha = MessageDigest.getInstance("SHA-256")
    sha.update('\n'.toByte)
    ByteBuffer.wrap(sha.digest(content)).getLong >>> 1
  }
}
