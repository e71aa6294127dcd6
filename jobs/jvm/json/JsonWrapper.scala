package sluice

import com.fasterxml.jackson.core.JsonToken
import java.nio.ByteBuffer

/** Connect's wrapper: an object of nothing but `schema` and `payload`; `schema` is null for a null,
  * `payload` where it is no object.
  */
private[sluice] final class JsonWrapper(val schema: ByteBuffer, val payload: Array[Byte])

private[sluice] object JsonWrapper {

  /** Null where bytes are not wrapped. Beyond the first member of another name nothing is read. */
  def of(bytes: Array[Byte]): JsonWrapper = {
    val in = JsonText.parser(bytes)
    var schema, payload: Array[Byte] = null
    var has = Set.empty[String]
    var name = if (in.nextToken() == JsonToken.START_OBJECT) in.nextFieldName() else ""
    while (name == "schema" || name == "payload") {
      has += name
      val isObject = in.nextToken() == JsonToken.START_OBJECT
      val whole = JsonText.part(in, bytes)
      val part = if (isObject) whole else null
      if (name == "schema") schema = part else payload = part
      name = in.nextFieldName()
    }
    if (name != null || has.size < 2 || in.nextToken() != null) null
    else new JsonWrapper(if (schema == null) null else ByteBuffer.wrap(schema), payload)
  }
}
