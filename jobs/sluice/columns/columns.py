"""Declared columns: the schema text of a spec, such as `carrier STRING, delays ARRAY<INT>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sluice.columns.names import quoted, require_name

PRIMITIVES = {
    **{
        name: name
        for name in ("STRING", "BOOLEAN", "DOUBLE", "DATE", "TIMESTAMP", "BINARY", "VARIANT")
    },
    "TINYINT": "TINYINT",
    "BYTE": "TINYINT",
    "SMALLINT": "SMALLINT",
    "SHORT": "SMALLINT",
    "INT": "INT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "LONG": "BIGINT",
    "FLOAT": "FLOAT",
    "REAL": "FLOAT",
}
_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_]\w*|[0-9]+)|`(?P<quoted>(?:[^`]|``)+)`|(?P<other>\S))"
)
DEEPEST = 50
MOST_DIGITS = 38
"""The most that an exact number has."""


@dataclass(frozen=True)
class Primitive:
    """A type without parts, by its canonical name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Decimal:
    """An exact number of `precision` digits, `scale` of them after the decimal point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= MOST_DIGITS and 0 <= self.scale <= self.precision):
            raise ValueError(
                f"{self}: expected 1 <= precision <= {MOST_DIGITS} and 0 <= scale <= precision"
            )

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


@dataclass(frozen=True)
class Array:
    """An array of values of one type."""

    element: ColumnType

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True)
class Map:
    """A map from text keys to values of one type."""

    value: ColumnType

    def __str__(self) -> str:
        return f"MAP<STRING, {self.value}>"


@dataclass(frozen=True)
class Struct:
    """A struct of named fields."""

    fields: tuple[Column, ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(f'{quoted(each.name)}: {each.type}' for each in self.fields)}>"


ColumnType = Primitive | Decimal | Array | Map | Struct


@dataclass(frozen=True)
class Column:
    """A declared column."""

    name: str
    type: ColumnType


def parse_columns(text: str) -> tuple[Column, ...]:
    """Parse a schema text. Raises ValueError with the column, what was found, what is allowed."""
    return tuple(_columns(_Tokens(text), separator=None, closing=""))


class _Tokens:
    """The text's tokens, one at a time; an empty token marks the end."""

    def __init__(self, text: str) -> None:
        self._found: Iterator[re.Match[str]] = _TOKEN.finditer(text.rstrip())
        self.depth = 0
        self.quoted = False
        self.now = ""
        self.advance()

    def advance(self) -> str:
        """Return the current token and step to the next."""
        before, match = self.now, next(self._found, None)
        self.quoted = match is not None and match["quoted"] is not None
        self.now = _text_of(match) if match else ""
        return before

    def is_now(self, token: str) -> bool:
        """Whether the current token is this one, as syntax and not as a quoted name."""
        return self.now == token and not self.quoted

    def expect(self, token: str) -> None:
        if not self.is_now(token):
            raise ValueError(f"expected {token!r}, found {self.now or 'the end'!r}")
        self.advance()


def _text_of(match: re.Match[str]) -> str:
    return match["word"] or (match["quoted"] or "").replace("``", "`") or match["other"]


def _columns(tokens: _Tokens, separator: str | None, closing: str) -> Iterator[Column]:
    seen: set[str] = set()
    while True:
        name = _name(tokens, seen)
        if separator and tokens.is_now(separator):
            tokens.advance()
        try:
            yield Column(name, _type(tokens))
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None
        if tokens.is_now(closing):
            return
        if not tokens.is_now(","):
            raise ValueError(f"after {name}: expected ',', found {tokens.now!r}")
        tokens.advance()


def _name(tokens: _Tokens, seen: set[str]) -> str:
    quoted, name = tokens.quoted, tokens.advance()
    if not name or not (quoted or re.fullmatch(r"[A-Za-z_]\w*", name)):
        raise ValueError(f"expected a column name, found {name or 'the end'!r}")
    require_name(name, seen)
    return name


def _type(tokens: _Tokens) -> ColumnType:
    if tokens.quoted:
        raise ValueError(f"expected a type, found the name `{tokens.now}`")
    word = tokens.advance().upper()
    if word in PRIMITIVES:
        return Primitive(PRIMITIVES[word])
    if word in ("DECIMAL", "NUMERIC", "DEC"):
        return _decimal(tokens)
    if word not in ("ARRAY", "MAP", "STRUCT"):
        allowed = ", ".join([*dict.fromkeys(PRIMITIVES.values()), "DECIMAL(p,s)"])
        raise ValueError(
            f"found type {word or 'nothing'!r}; allowed: {allowed}, ARRAY, MAP, STRUCT"
        )
    tokens.expect("<")
    tokens.depth += 1
    if tokens.depth > DEEPEST:
        raise ValueError(f"types are nested more than {DEEPEST} levels deep")
    found = _nested(word, tokens)
    tokens.depth -= 1
    tokens.expect(">")
    return found


def _nested(word: str, tokens: _Tokens) -> ColumnType:
    if word == "ARRAY":
        return Array(_type(tokens))
    if word == "STRUCT":
        return Struct(tuple(_columns(tokens, separator=":", closing=">")))
    key = _type(tokens)
    if key != Primitive("STRING"):
        raise ValueError(f"the keys of a JSON object are STRING, found MAP<{key}, …>")
    tokens.expect(",")
    return Map(_type(tokens))


def _decimal(tokens: _Tokens) -> Decimal:
    if tokens.now != "(":
        return Decimal(10, 0)
    tokens.advance()
    precision, scale = _number(tokens), 0
    if tokens.now == ",":
        tokens.advance()
        scale = _number(tokens)
    tokens.expect(")")
    return Decimal(precision, scale)


def _number(tokens: _Tokens) -> int:
    if not tokens.now.isdecimal():
        raise ValueError(f"expected DECIMAL(precision,scale), found {tokens.now or 'the end'!r}")
    return int(tokens.advance())
