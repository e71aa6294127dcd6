package sluice

import com.fasterxml.jackson.core.JsonToken
import scala.collection.mutable.ArrayBuffer

/** Unmatched: an object that has none of the fields, whose row would be nulls only. */
private[sluice] object JsonUnmatched {
  private val Named = 5

  /** The fields that were expected, and the names that are there. */
  def told(fields: Seq[String], bytes: Array[Byte]): String =
    s"expected one of the declared fields (${listed(fields)}), found ${names(bytes)}"

  private def names(bytes: Array[Byte]): String = {
    val in = JsonText.parser(bytes)
    val found = ArrayBuffer.empty[String]
    in.nextToken()
    while (in.nextToken() == JsonToken.FIELD_NAME) {
      found += in.currentName
      in.nextToken()
      in.skipChildren()
    }
    if (found.isEmpty) "an object without fields" else listed(found.toSeq.distinct)
  }

  private def listed(names: Seq[String]): String = {
    val more = if (names.length > Named) ", …" else ""
    names.take(Named).map(Misfit.shortened).mkString(", ") + more
  }
}
