"""Kinds: what an argument of a function may be. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice.columns.columns import Array, ColumnType, Decimal, Map
from sluice.derived.casts import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    STRING,
    TIMESTAMP,
    UNCHECKED,
    VARIANT,
    VOID,
    WHOLE,
    is_number,
    is_simple,
)
from sluice.derived.typed import Typed

# For a text that grows: a record's value, multiplied by this, must fit into memory.
_SHORT, WIDEST = 16, 1000
_MICROS = 6
OF_MOMENTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
# Years to fractions, and the characters between them: no letter that depends on zone or locale.
_WRITING = ("yyyy", "MM", "dd", "HH", "mm", "ss", "SSSSSS", "SSS", "'T'", "-/_.:")
_READING = (*_WRITING[:-1], "MMM", "M", "d", "H", "X", "XX", "XXX", "'GMT'", "-/_.:,")
# What Spark passes over in front of a name, and what ends one.
_SPACE = r" \t\n\x0b\f\r"
_INDEX = "[0-9]{1,9}"
_PATH = rf"\$(?:\.(?![*{_SPACE}])[^.\[]+|\['(?!\*'\]|[{_SPACE}])[^']+'\]|\[(?:\*|{_INDEX})\])*"
_VARIANT_PATH = rf"\$(?:\.(?!\*)[^.\[]+|\['[^']*'\]|\[\"[^\"]*\"\]|\[{_INDEX}\])*"


@dataclass(frozen=True)
class Kind:
    """What an argument may be, in words, and how to see it."""

    words: str
    fits: Callable[[Typed], bool]


def of(*types: ColumnType) -> Kind:
    """A value of one of some types."""
    words = " or ".join(map(str, types))
    return Kind(words, lambda given: given.type in types)


def one_of(*words: str | int) -> Kind:
    """One of some written texts or numbers."""
    what = "texts" if isinstance(words[0], str) else "numbers"
    shown = ", ".join(map(str, words))
    return Kind(f"one of the {what} {shown}", lambda given: given.written in words)


def in_any_case(*words: str) -> Kind:
    """One of some written texts, in capitals or not."""
    known = one_of(*words)
    return Kind(known.words, lambda given: str(given.written).upper() in words)


def between(least: int, most: int, but: int | None = None) -> Kind:
    """A written number within bounds."""
    words = f"a written number from {least} to {most}" + (f" but {but}" if but is not None else "")

    def fits(given: Typed) -> bool:
        number = given.written
        return isinstance(number, int) and least <= number <= most and number != but

    return Kind(words, fits)


def _form(parts: Sequence[str]) -> Kind:
    """A pattern of days and moments, whose last part is the characters between the others."""
    *letters, between_them = parts
    runs = [rf"{each}(?!{each[0]})" for each in letters if each.isalpha()]
    pattern = "|".join([*runs, "'[A-Za-z]+'", f"[{between_them} ]"])
    words = f"a pattern of {', '.join(letters)} and {between_them} and spaces"
    return _written(words, f"(?:{pattern})+")


def _written(words: str, pattern: str) -> Kind:
    form = re.compile(pattern, re.DOTALL)
    return Kind(
        words, lambda given: isinstance(given.written, str) and bool(form.fullmatch(given.written))
    )


TEXT, BYTES = of(STRING), of(STRING, BINARY)
DAY = of(DATE, TIMESTAMP)
POINT = of(FLOAT, DOUBLE)
NUMBER = Kind("a number", lambda given: is_number(given.type))
INTEGER = of(*WHOLE)
SIMPLE = Kind(
    "a value without parts", lambda g: is_simple(g.type) and g.type not in (UNCHECKED, VOID)
)
TEXTS = of(Array(STRING))
ARRAY = Kind("an array", lambda given: isinstance(given.type, Array))
MAP = Kind("a map", lambda given: isinstance(given.type, Map))
MANY = Kind("an array or a map", lambda given: isinstance(given.type, Array | Map))
ANYTHING = Kind("a value", lambda given: given.type != UNCHECKED)
CONDITION = of(BOOLEAN)
FEW = _written(f"a written text of at most {_SHORT} characters", rf".{{0,{_SHORT}}}")
SOME = _written(f"a written text of 1 to {_SHORT} characters", rf".{{1,{_SHORT}}}")
FORM, READ_FORM = _form(_WRITING), _form(_READING)
PATH = _written(
    "a path such as '$.lines[0].id', '$.lines[*].id', '$[0]' or, for a name with a dot,"
    " \"$['log.level']\"; Spark finds nothing by others: it has no .*, no two dots, no field *,"
    " no double quotes, and no space in front of a name",
    _PATH,
)
A_VARIANT = Kind("a VARIANT, such as try_parse_json(text)", lambda given: given.type == VARIANT)
VARIANT_PATH = _written(
    "a path such as '$.lines[0].id', '$[0]' or, for a name with a dot, \"$['log.level']\"; it leads"
    " to one value: [*] and .* do not",
    _VARIANT_PATH,
)
A_TYPE = _written("a written type such as 'BIGINT' or 'ARRAY<STRING>'", ".*")
COUNT = between(0, 1_000_000_000)
# What Spark takes as a number of seconds without a failure, within bounds.
SECONDS = Kind(
    "a whole number, a DOUBLE, or a DECIMAL with at most 6 digits after the point",
    lambda g: (
        g.type in (*WHOLE, DOUBLE) or (isinstance(g.type, Decimal) and g.type.scale <= _MICROS)
    ),
)
