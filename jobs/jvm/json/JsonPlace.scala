package sluice

import com.fasterxml.jackson.core.{JsonProcessingException, JsonToken}
import com.fasterxml.jackson.databind.ObjectMapper
import java.nio.charset.StandardCharsets.UTF_8
import scala.jdk.CollectionConverters._

/** A place within JSON, at which the record itself is: the names that lead there, from the outermost.
  *
  * What is there, or on the way, may be a text that holds the JSON, also within another such text.
  * `names` is a JSON array.
  */
private[sluice] final class JsonPlace(names: String) {
  private val steps =
    new ObjectMapper().readTree(names).elements.asScala.map(_.asText).toArray

  /** What `read` makes of the JSON there. A Misfit says where it is. */
  def apply[Made](bytes: Array[Byte], read: Array[Byte] => Made): Made = within(bytes, 0, read)

  /** The same of what is no Misfit. */
  def told(why: String): String =
    steps.foldRight(new Misfit(why))((step, misfit) => misfit.within(step)).told

  private def within[Made](bytes: Array[Byte], depth: Int, read: Array[Byte] => Made): Made = {
    val opened = JsonPlace.opened(bytes)
    if (depth == steps.length) read(opened)
    else {
      val found = JsonText.strictly(opened, JsonFlaw.told)(JsonPlace.member(_, steps(depth)))
      try within(found, depth + 1, read)
      catch { case misfit: Misfit => throw misfit.within(steps(depth)) }
    }
  }
}

private[sluice] object JsonPlace {

  /** The JSON in a text that holds some; the bytes themselves where they are no text. */
  def opened(bytes: Array[Byte]): Array[Byte] = textIn(bytes) match {
    case null => bytes
    case text => opened(text.getBytes(UTF_8))
  }

  /** Whether bytes are a text, or one within another, that begins like an object. */
  def holdsObject(bytes: Array[Byte]): Boolean =
    JsonText.beginsWith('"', bytes) && JsonText.beginsWith('{', opened(bytes))

  /** The text that the bytes are as JSON; null where they are anything else. */
  private def textIn(bytes: Array[Byte]): String =
    if (!JsonText.beginsWith('"', bytes) || !JsonText.isClean(bytes)) null
    else
      try {
        val in = JsonText.parser(bytes)
        val text = if (in.nextToken() == JsonToken.VALUE_STRING) in.getText else null
        if (text != null && in.nextToken() == null) text else null
      } catch { case _: JsonProcessingException => null }

  /** The JSON of an object's member; of a name that is repeated the last one. */
  def member(bytes: Array[Byte], wanted: String): Array[Byte] = {
    val in = JsonText.parser(bytes)
    if (in.nextToken() != JsonToken.START_OBJECT) throw new Misfit(JsonFlaw.of(bytes))
    var found: Array[Byte] = null
    var name = in.nextFieldName()
    while (name != null) {
      in.nextToken()
      if (name == wanted) found = JsonText.part(in, bytes) else in.skipChildren()
      name = in.nextFieldName()
    }
    if (in.nextToken() != null) throw new Misfit(JsonFlaw.of(bytes))
    if (found == null) throw new Misfit(JsonUnmatched.told(wanted, bytes))
    found
  }
}
