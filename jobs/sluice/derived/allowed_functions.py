"""Allowed functions: those of Spark SQL that a derived column may call. Pure.

Each gives one answer for each record, the same at every reading, whatever session reads; and has an
answer for every value: a record that made one fail would stop its batch. tests/unit/derived and
tests/decoding hold the list against Spark itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sluice.columns.columns import Array, ColumnType, Map
from sluice.derived.casts import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    UNCHECKED,
    VOID,
    WHOLE,
    common_type,
    element_of,
    is_number,
    is_simple,
)

# For a text that grows: a record's value, multiplied by this, must fit into memory.
_SHORT, _WIDEST = 16, 1000
# Years to fractions, and the characters between them: no letter that depends on zone or locale.
_PATTERN = r"(?:yyyy|MM|dd|HH|mm|ss|SSSSSS|SSS|'[A-Za-z]'|[-/_.: ])+"
_PATH = r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,6}\])*"
_OF_MOMENTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")


@dataclass(frozen=True)
class Typed:
    """A part of an expression: as Spark is given it, its type, and its value if it is written.

    `name` is that of a column.
    """

    sql: str
    type: ColumnType
    written: str | int | None = None
    name: str = ""


@dataclass(frozen=True)
class Kind:
    """What an argument may be, in words, and how to see it."""

    words: str
    fits: Callable[[Typed], bool]


def _of(*types: ColumnType) -> Kind:
    words = " or ".join(map(str, types))
    return Kind(words, lambda given: given.type in types)


def _one_of(*words: str) -> Kind:
    return Kind(f"one of the texts {', '.join(words)}", lambda given: given.written in words)


def _between(least: int, most: int, but: int | None = None) -> Kind:
    words = f"a written number from {least} to {most}" + (f" but {but}" if but is not None else "")

    def fits(given: Typed) -> bool:
        number = given.written
        return isinstance(number, int) and least <= number <= most and number != but

    return Kind(words, fits)


def _written(words: str, pattern: str) -> Kind:
    form = re.compile(pattern, re.DOTALL)
    return Kind(
        words, lambda given: isinstance(given.written, str) and bool(form.fullmatch(given.written))
    )


_TEXT, _BYTES = _of(STRING), _of(STRING, BINARY)
_DAY = _of(DATE, TIMESTAMP)
_POINT = _of(FLOAT, DOUBLE)
_NUMBER = Kind("a number", lambda given: is_number(given.type))
_WHOLE = _of(*WHOLE)
_SIMPLE = Kind(
    "a value without parts", lambda g: is_simple(g.type) and g.type not in (UNCHECKED, VOID)
)
_TEXTS = _of(Array(STRING))
_ARRAY = Kind("an array", lambda given: isinstance(given.type, Array))
_MAP = Kind("a map", lambda given: isinstance(given.type, Map))
_MANY = Kind("an array or a map", lambda given: isinstance(given.type, Array | Map))
_ANYTHING = Kind("a value", lambda given: given.type != UNCHECKED)
_CONDITION = _of(BOOLEAN)
_FEW = _written(f"a written text of at most {_SHORT} characters", rf".{{0,{_SHORT}}}")
_SOME = _written(f"a written text of 1 to {_SHORT} characters", rf".{{1,{_SHORT}}}")
_FORM = _written("a pattern of yyyy, MM, dd, HH, mm, ss, SSS, SSSSSS, 'T' and -/_.:", _PATTERN)
_COUNT = _between(0, 1_000_000_000)

Result = ColumnType | Callable[[Sequence[ColumnType]], ColumnType | None]


@dataclass(frozen=True)
class Function:
    """What a function takes and gives. `more` may follow any number of times, `optional` once.

    A result that depends on the arguments is None where their types do not go together.
    """

    takes: tuple[Kind, ...]
    gives: Result
    optional: tuple[Kind, ...] = ()
    more: Kind | None = None

    def kind_of(self, position: int) -> Kind | None:
        """What the argument at a position, from 0, may be; None beyond the last one."""
        known = (*self.takes, *self.optional)
        return known[position] if position < len(known) else self.more


def _function(*takes: Kind, gives: Result, more: Kind | None = None) -> Function:
    return Function(takes, gives, more=more)


def _common(types: Sequence[ColumnType]) -> ColumnType | None:
    found: ColumnType | None = types[0]
    for each in types[1:]:
        found = found and common_type(found, each)
    return found


def _first(types: Sequence[ColumnType]) -> ColumnType | None:
    return types[0] if _common(types) is not None and types[0] != VOID else None


def _whole_or_double(types: Sequence[ColumnType]) -> ColumnType | None:
    found = _common(types)
    return found if found in WHOLE or found == DOUBLE else None


def _element(types: Sequence[ColumnType]) -> ColumnType | None:
    return element_of(types[0])


def _array_of_first(types: Sequence[ColumnType]) -> ColumnType | None:
    return BOOLEAN if element_of(types[0]) == types[1] and is_simple(types[1]) else None


def _alike(names: str, function: Function) -> dict[str, Function]:
    return dict.fromkeys(names.split(), function)


FUNCTIONS: Mapping[str, Function] = {
    **_alike("lower upper trim ltrim rtrim reverse initcap mask", _function(_TEXT, gives=STRING)),
    **_alike("md5 sha1 sha", _function(_BYTES, gives=STRING)),
    "sha2": _function(
        _BYTES,
        Kind("one of the numbers 224, 256, 384, 512", lambda g: g.written in (224, 256, 384, 512)),
        gives=STRING,
    ),
    "crc32": _function(_BYTES, gives=BIGINT),
    "xxhash64": _function(_SIMPLE, gives=BIGINT, more=_SIMPLE),
    "hash": _function(_SIMPLE, gives=INT, more=_SIMPLE),
    "hex": _function(_of(STRING, BINARY, *WHOLE), gives=STRING),
    **_alike("char_length character_length", _function(_TEXT, gives=INT)),
    **_alike("length octet_length", _function(_BYTES, gives=INT)),
    "concat": _function(_TEXT, gives=STRING, more=_TEXT),
    "concat_ws": _function(_FEW, _TEXT, gives=STRING, more=_TEXT),
    **_alike(
        "substring substr",
        Function((_TEXT, _between(-1_000_000_000, 1_000_000_000)), STRING, (_COUNT,)),
    ),
    **_alike("left right", _function(_TEXT, _COUNT, gives=STRING)),
    "replace": _function(_TEXT, _SOME, _FEW, gives=STRING),
    "translate": _function(_TEXT, _FEW, _FEW, gives=STRING),
    **_alike("lpad rpad", _function(_TEXT, _between(0, _WIDEST), _SOME, gives=STRING)),
    "split_part": _function(_TEXT, _SOME, _between(-1000, 1000, but=0), gives=STRING),
    **_alike("startswith endswith contains", _function(_TEXT, _TEXT, gives=BOOLEAN)),
    **_alike("instr locate", _function(_TEXT, _TEXT, gives=INT)),
    **_alike("try_validate_utf8 make_valid_utf8", _function(_of(UNCHECKED, STRING), gives=STRING)),
    "is_valid_utf8": _function(_of(UNCHECKED, STRING), gives=BOOLEAN),
    "get_json_object": _function(
        _TEXT, _written("a path such as '$.order.lines[0]'", _PATH), gives=STRING
    ),
    "abs": _function(_POINT, gives=lambda types: types[0]),
    "round": Function((_POINT,), lambda types: types[0], (_between(0, 15),)),
    "isnan": _function(_POINT, gives=BOOLEAN),
    **_alike(
        "try_add try_subtract try_multiply", _function(_NUMBER, _NUMBER, gives=_whole_or_double)
    ),
    "try_divide": _function(
        _NUMBER, _NUMBER, gives=lambda types: _whole_or_double(types) and DOUBLE
    ),
    "try_mod": _function(_WHOLE, _WHOLE, gives=_common),
    "pmod": _function(_of(*WHOLE[:3]), _between(1, 2**31 - 1), gives=_common),
    **_alike("coalesce", _function(_ANYTHING, gives=_common, more=_ANYTHING)),
    **_alike("nvl ifnull", _function(_ANYTHING, _ANYTHING, gives=_common)),
    "nullif": _function(_SIMPLE, _SIMPLE, gives=_first),
    **_alike("greatest least", _function(_SIMPLE, _SIMPLE, gives=_common, more=_SIMPLE)),
    "nvl2": _function(_ANYTHING, _ANYTHING, _ANYTHING, gives=lambda types: _common(types[1:])),
    "if": _function(_CONDITION, _ANYTHING, _ANYTHING, gives=lambda types: _common(types[1:])),
    **_alike(
        "year quarter month day dayofmonth dayofweek weekday dayofyear weekofyear",
        _function(_DAY, gives=INT),
    ),
    **_alike("hour minute second", _function(_of(TIMESTAMP), gives=INT)),
    **_alike("to_date date", _function(_DAY, gives=DATE)),
    "last_day": _function(_of(DATE), gives=DATE),
    **_alike("datediff date_diff", _function(_of(DATE), _of(DATE), gives=INT)),
    "date_trunc": _function(_one_of(*_OF_MOMENTS), _of(TIMESTAMP), gives=TIMESTAMP),
    "trunc": _function(_of(DATE), _one_of(*_OF_MOMENTS[:4]), gives=DATE),
    "date_format": _function(_DAY, _FORM, gives=STRING),
    **_alike("unix_seconds unix_millis unix_micros", _function(_of(TIMESTAMP), gives=BIGINT)),
    "unix_date": _function(_of(DATE), gives=INT),
    **_alike("size cardinality", _function(_MANY, gives=INT)),
    "array_size": _function(_ARRAY, gives=INT),
    "array_contains": _function(_ARRAY, _SIMPLE, gives=_array_of_first),
    "array_join": _function(_TEXTS, _FEW, gives=STRING),
    "get": _function(_ARRAY, _between(0, 2**31 - 1), gives=_element),
    "try_element_at": _function(_MAP, _TEXT, gives=_element),
    "map_contains_key": _function(_MAP, _TEXT, gives=BOOLEAN),
    "map_keys": _function(_MAP, gives=Array(STRING)),
    "map_values": _function(_MAP, gives=lambda types: Array(types[0].value)),  # type: ignore[union-attr]
}
# What people write first, and what has an answer for every value.
INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("to_timestamp", "timestamp"), "try_cast(… AS TIMESTAMP)"),
    **dict.fromkeys(("int", "bigint", "double", "float", "decimal"), "try_cast(… AS …)"),
    "element_at": "get(array, 0) or try_element_at(map, 'key')",
    **dict.fromkeys(("decode", "string", "validate_utf8"), "try_validate_utf8(CAST(… AS STRING))"),
    "mod": "try_mod(…, …)",
    **dict.fromkeys(
        ("now", "current_timestamp", "current_date", "curdate", "localtimestamp"),
        "_timestamp: a batch that is read again must land alike",
    ),
    **dict.fromkeys(
        ("rand", "random", "randn", "uuid", "monotonically_increasing_id"),
        "xxhash64(_topic_id, _partition, _offset): a batch that is read again must land alike",
    ),
}
