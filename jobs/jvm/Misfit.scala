package sluice

import scala.util.control.NoStackTrace

/** Where a record leaves its schema, what was expected there, and what was found. */
private[sluice] final class Misfit(val text: String) extends Exception with NoStackTrace {
  var path: String = ""

  /** The same, seen from what holds it: a field's name, or a place in brackets. */
  def within(name: String): Misfit = {
    path = Misfit.joined(name, path)
    this
  }

  def told: String = if (path.isEmpty) text else s"$path: $text"
}

private[sluice] object Misfit {
  private val Most = 100

  def joined(name: String, path: String): String =
    if (path.isEmpty || path.startsWith("[")) name + path else s"$name.$path"

  def shortened(text: String): String = if (text.length > Most) text.take(Most) + "…" else text
}
