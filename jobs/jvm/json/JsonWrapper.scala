package sluice

import com.fasterxml.jackson.core.JsonToken
import java.nio.ByteBuffer

/** Connect's wrapper: an object of nothing but `schema`, an object or null, and `payload`. */
private[sluice] final class JsonWrapper(val schema: ByteBuffer, val payload: Array[Byte]) {

  def hasObject: Boolean = payload(0) == '{'
}

private[sluice] object JsonWrapper {

  /** Null where bytes are not wrapped. Beyond the first member of another name nothing is read. */
  def of(bytes: Array[Byte]): JsonWrapper = {
    val in = JsonText.parser(bytes)
    var schema, payload: Array[Byte] = null
    var name = if (in.nextToken() == JsonToken.START_OBJECT) in.nextFieldName() else ""
    while (name == "schema" || name == "payload") {
      in.nextToken()
      val part = JsonText.part(in, bytes)
      if (name == "schema") schema = part else payload = part
      name = in.nextFieldName()
    }
    if (name != null || schema == null || payload == null || in.nextToken() != null) null
    else if (schema(0) == '{') new JsonWrapper(ByteBuffer.wrap(schema), payload)
    else if (schema(0) == 'n') new JsonWrapper(null, payload)
    else null
  }
}
