package sluice

import java.nio.ByteBuffer
import java.util.{LinkedHashMap, Map => JMap}

/** Newest: what was made for the schemas that came last, by their bytes: a topic has few. */
private[sluice] final class Newest[Made] {
  private val Most = 64
  private val made = new LinkedHashMap[ByteBuffer, Made](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[ByteBuffer, Made]): Boolean = size > Most
  }

  def apply(schema: ByteBuffer, make: => Made): Made = {
    val found = made.get(schema)
    if (found != null) found
    else {
      val another = make
      made.put(schema, another)
      another
    }
  }
}
