"""JSON flaws: what keeps bytes from being one JSON object, and at which byte, from 0. Pure.

The texts are those of quarantined records: in the JVM, JsonFlaw and JsonScan of jobs/jvm/json.
tests/worlds/named_values.py has the cases of both.
"""

from __future__ import annotations

import json
import re

from sluice.schemas.value_kinds import kind_of

_NOT_ONE = "not one JSON object"
_WITHIN = " that holds an object: `at: $` in `format` reads it"
_NOT_STRICT = "not strict UTF-8"
_LEVELS = 1_000
_BLANKS = b" \t\n\r"
_DIGITS = b"0123456789"
# What a string consists of: plain characters, and escapes.
_PART = re.compile(rb'[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONSTANTS = (b"NaN", b"Infinity", b"-Infinity")
_LITERALS = (b"true", b"false", b"null")
_KINDS = {
    b"{": "a JSON object",
    b"[": "a JSON array",
    b'"': "a JSON string",
    **dict.fromkeys((b"t", b"f"), "a JSON literal"),
    b"n": "null",
}
_NAMES = {
    0: "a NUL byte",
    ord('"'): "a string",
    ord("'"): "a single quote",
    ord("`"): "a backtick",
    ord("_"): "a word",
    ord("-"): "a number",
}
_NOT_LATIN = re.compile(rb"[^\t\n\r\x20-\x7e\xa0-\xff]")


class _Flaw(Exception):
    pass


def flaw_of(value: bytes) -> str:
    """Why a value that is text in strict UTF-8 is not one JSON object."""
    if kind := kind_of(value):
        return f"{_NOT_ONE}: found {kind}"
    try:
        _Scan(value).document()
    except _Flaw as flaw:
        return f"{_NOT_ONE}: {flaw}{'' if object_in_text(value) is None else _WITHIN}"
    return _NOT_ONE


def object_in_text(value: bytes) -> bytes | None:
    """What a JSON text holds, or one within another, where that begins like an object."""
    found = value.strip(_BLANKS)
    if not found.startswith(b'"'):
        return None
    while found.startswith(b'"'):
        try:
            found = json.loads(found.decode()).encode().strip(_BLANKS)
        except ValueError:
            return None
    return found if found.startswith(b"{") else None


def flaw_of_encoding(value: bytes, at: int) -> str:
    """Why a value is not strict UTF-8, whose first wrong byte is at `at`."""
    if kind := kind_of(value):
        return f"{_NOT_STRICT}: found {kind}"
    is_latin = value[:at].isascii() and not _NOT_LATIN.search(value)
    guess = "; ISO-8859-1 text?" if is_latin else ""
    return f"{_NOT_STRICT}: byte 0x{value[at]:02x} at {at}{guess}"


class _Scan:
    """A walk through one value, up to the first flaw."""

    def __init__(self, value: bytes) -> None:
        self._value = value
        self._at = 0
        # Whether each open container is an object.
        self._objects: list[bool] = []
        self._fresh = False

    def document(self) -> None:
        self._blanks()
        first = self._here()
        if not first:
            raise _Flaw("found only white space" if self._value else "found no bytes")
        self._begin("{")
        while self._objects:
            self._go()
        self._blanks()
        if first == b"{" and self._is(b"{"):
            self._found("several JSON objects, the second")
        if self._here():
            self._expected("the end")
        if first != b"{":
            raise _Flaw(f"found {_KINDS.get(first, 'a JSON number')}")

    def _go(self) -> None:
        """From a container's beginning, or a value in it, to behind the next value or its end."""
        self._blanks()
        is_object, first = self._objects[-1], self._fresh
        end = b"}" if is_object else b"]"
        if self._is(end):
            self._at += 1
            self._objects.pop()
            self._fresh = False
            return
        if not first:
            self._take(b",", f", or {end.decode()}")
        self._blanks()
        or_end = f" or {end.decode()}" if first else ""
        if is_object:
            self._name(f"a name{or_end}")
        self._blanks()
        self._begin("a value" if is_object else f"a value{or_end}")

    def _name(self, what: str) -> None:
        if not self._is(b'"'):
            self._expected(what)
        self._string()
        self._blanks()
        self._take(b":", ":")

    def _begin(self, what: str) -> None:
        """Past a scalar, or into a container."""
        self._fresh = self._is(b"{") or self._is(b"[")
        if self._fresh:
            self._open()
        elif self._is(b'"'):
            self._string()
        elif constant := self._one_of(_CONSTANTS):
            self._found(constant.decode())
        elif self._is(b"-") or self._is_digit():
            self._number()
        elif literal := self._one_of(_LITERALS):
            self._at += len(literal)
        else:
            self._expected(what)

    def _open(self) -> None:
        if len(self._objects) == _LEVELS:
            self._found(f"more than {_LEVELS} levels")
        self._objects.append(self._is(b"{"))
        self._at += 1

    def _string(self) -> None:
        self._at += 1
        while part := _PART.match(self._value, self._at):
            self._at = part.end()
        if self._is(b"\\"):
            self._found("an unknown escape")
        if not self._here():
            self._expected("the end of a string")
        if not self._is(b'"'):
            self._found("a control character in a string")
        self._at += 1

    def _number(self) -> None:
        if self._is(b"-"):
            self._at += 1
        if self._is(b"0"):
            self._at += 1
        else:
            self._digits()
        if self._is(b"."):
            self._at += 1
            self._digits()
        if self._is(b"e") or self._is(b"E"):
            self._at += 1
            if self._is(b"+") or self._is(b"-"):
                self._at += 1
            self._digits()

    def _digits(self) -> None:
        if not self._is_digit():
            self._expected("a digit")
        while self._is_digit():
            self._at += 1

    def _blanks(self) -> None:
        while self._here() and self._here() in _BLANKS:
            self._at += 1

    def _here(self) -> bytes:
        return self._value[self._at : self._at + 1]

    def _is(self, character: bytes) -> bool:
        return self._here() == character

    def _is_digit(self) -> bool:
        return bool(self._here()) and self._here() in _DIGITS

    def _one_of(self, words: tuple[bytes, ...]) -> bytes | None:
        return next((each for each in words if self._value.startswith(each, self._at)), None)

    def _take(self, character: bytes, what: str) -> None:
        if not self._is(character):
            self._expected(what)
        self._at += 1

    def _expected(self, what: str) -> None:
        raise _Flaw(f"expected {what}, found {self._what()} at byte {self._at}")

    def _found(self, what: str) -> None:
        raise _Flaw(f"found {what} at byte {self._at}")

    def _what(self) -> str:
        """What stands here, by its kind: no text of the record."""
        if not self._here():
            return "the end"
        if self._one_of((b"//", b"/*")):
            return "a comment"
        byte = self._value[self._at]
        if byte in _NAMES:
            return _NAMES[byte]
        if byte >= 0x80:
            return "a character beyond ASCII"
        if byte < 0x21 or byte == 0x7F:
            return "a control character"
        character = chr(byte)
        if character.isdigit():
            return "a number"
        return "a word" if character.isalpha() else character
