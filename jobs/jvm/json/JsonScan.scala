package sluice

import java.nio.charset.StandardCharsets.US_ASCII

/** A scan of bytes as one JSON object, which stops at the first flaw: a `Misfit` says which.
  *
  * Jackson's own words repeat the record. In Python: jobs/sluice/schemas/json_flaws.py.
  */
private[sluice] final class JsonScan(bytes: Array[Byte]) {
  import JsonScan._

  private var at = 0
  // Whether each open container is an object.
  private val objects = new Array[Boolean](Levels)
  private var depth = 0
  private var fresh = false

  def document(): Unit = {
    blanks()
    if (ended) throw new Misfit(if (bytes.isEmpty) "found no bytes" else "found only white space")
    val kind = kindOf(bytes(at))
    begin("{")
    while (depth > 0) go()
    blanks()
    if (kind == Object && is('{')) found("several JSON objects, the second")
    if (!ended) expected("the end")
    if (kind != Object) throw new Misfit(s"found $kind")
  }

  /** From behind a container's beginning, or behind a value in it, to behind the next value or its end. */
  private def go(): Unit = {
    blanks()
    val isObject = objects(depth - 1)
    val end = if (isObject) '}' else ']'
    val first = fresh
    if (is(end)) {
      at += 1
      depth -= 1
      fresh = false
    } else {
      if (!first) take(',', s", or $end")
      blanks()
      val orEnd = if (first) s" or $end" else ""
      if (isObject) name("a name" + orEnd)
      blanks()
      begin(if (isObject) "a value" else "a value" + orEnd)
    }
  }

  private def name(what: String): Unit = {
    if (!is('"')) expected(what)
    string()
    blanks()
    take(':', ":")
  }

  /** Past a scalar, or into a container. */
  private def begin(what: String): Unit = {
    fresh = is('{') || is('[')
    if (fresh) open()
    else if (is('"')) string()
    else if (Constants.exists(startsWith)) found(Constants.find(startsWith).get)
    else if (is('-') || isDigit) number()
    else
      Literals.find(startsWith) match {
        case Some(literal) => at += literal.length
        case None => expected(what)
      }
  }

  private def open(): Unit = {
    if (depth == Levels) found(s"more than $Levels levels")
    objects(depth) = is('{')
    depth += 1
    at += 1
  }

  private def string(): Unit = {
    at += 1
    while (!is('"')) {
      if (ended) expected("the end of a string")
      if (bytes(at) >= 0 && bytes(at) < 0x20) found("a control character in a string")
      if (is('\\')) at += escape() else at += 1
    }
    at += 1
  }

  private def escape(): Int = {
    val next = if (at + 1 < bytes.length) bytes(at + 1).toChar else ' '
    if (Escapes.indexOf(next) >= 0) 2
    else if (next == 'u' && (2 to 5).forall(each => isHex(at + each))) 6
    else found("an unknown escape")
  }

  private def isHex(place: Int): Boolean =
    place < bytes.length && Character.digit(bytes(place), 16) >= 0

  private def number(): Unit = {
    if (is('-')) at += 1
    if (is('0')) at += 1 else digits()
    if (is('.')) {
      at += 1
      digits()
    }
    if (is('e') || is('E')) {
      at += 1
      if (is('+') || is('-')) at += 1
      digits()
    }
  }

  private def digits(): Unit = {
    if (!isDigit) expected("a digit")
    while (isDigit) at += 1
  }

  private def blanks(): Unit = while (is(' ') || is('\t') || is('\n') || is('\r')) at += 1

  private def ended: Boolean = at == bytes.length

  private def is(character: Char): Boolean = at < bytes.length && bytes(at) == character

  private def isDigit: Boolean = at < bytes.length && bytes(at) >= '0' && bytes(at) <= '9'

  private def startsWith(text: String): Boolean = bytes.startsWith(text.getBytes(US_ASCII), at)

  private def take(character: Char, what: String): Unit =
    if (is(character)) at += 1 else expected(what)

  private def expected(what: String): Nothing =
    throw new Misfit(s"expected $what, found $here at byte $at")

  private def found(what: String): Nothing = throw new Misfit(s"found $what at byte $at")

  /** What stands here, by its kind: no text of the record. */
  private def here: String =
    if (ended) "the end"
    else if (startsWith("//") || startsWith("/*")) "a comment"
    else nameOf(bytes(at))
}

private object JsonScan {
  private val Levels = 1000
  private val Escapes = "\"\\/bfnrt"
  private val Literals = Seq("true", "false", "null")
  private val Constants = Seq("NaN", "Infinity", "-Infinity")
  private val Object = "a JSON object"

  private def kindOf(first: Byte): String = first.toChar match {
    case '{' => Object
    case '[' => "a JSON array"
    case '"' => "a JSON string"
    case 't' | 'f' => "a JSON literal"
    case 'n' => "null"
    case _ => "a JSON number"
  }

  private def nameOf(byte: Byte): String = byte.toChar match {
    case 0 => "a NUL byte"
    case '"' => "a string"
    case '\'' => "a single quote"
    case '`' => "a backtick"
    case '_' => "a word"
    case each if byte < 0 => "a character beyond ASCII"
    case each if each < 0x21 || each == 0x7f => "a control character"
    case each if each == '-' || Character.isDigit(each) => "a number"
    case each if Character.isLetter(each) => "a word"
    case each => each.toString
  }
}
