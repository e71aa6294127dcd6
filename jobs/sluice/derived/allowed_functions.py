"""Allowed functions: those of Spark SQL that a derived column may call. Pure.

Each gives one answer for each record, the same at every reading, whatever session reads; and has an
answer for every value: a record that made one fail would stop its batch. tests/unit/derived and
tests/decoding hold the list against Spark itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sluice.columns.columns import Array, ColumnType
from sluice.derived import guards, kinds
from sluice.derived.casts import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    UNCHECKED,
    VARIANT,
    VOID,
    WHOLE,
    common_type,
    element_of,
    is_simple,
)
from sluice.derived.variants import type_read


@dataclass(frozen=True)
class Named:
    """A result of the type that the last argument names; `read` raises ValueError for others."""

    read: Callable[[str], ColumnType]


Result = ColumnType | Named | Callable[[Sequence[ColumnType]], ColumnType | None]


@dataclass(frozen=True)
class Function:
    """What a function takes and gives. `more` may follow any number of times, `optional` once.

    `guard` writes the call for Spark where the plain one could fail.
    A result that depends on the arguments is None where their types do not go together.
    """

    takes: tuple[kinds.Kind, ...]
    gives: Result
    optional: tuple[kinds.Kind, ...] = ()
    more: kinds.Kind | None = None
    guard: guards.Guard | None = None

    def kind_of(self, position: int) -> kinds.Kind | None:
        """What the argument at a position, from 0, may be; None beyond the last one."""
        known = (*self.takes, *self.optional)
        return known[position] if position < len(known) else self.more


def _function(
    *takes: kinds.Kind,
    gives: Result,
    more: kinds.Kind | None = None,
    guard: guards.Guard | None = None,
) -> Function:
    return Function(takes, gives, more=more, guard=guard)


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
    **_alike(
        "lower upper trim ltrim rtrim reverse initcap mask", _function(kinds.TEXT, gives=STRING)
    ),
    **_alike("md5 sha1 sha", _function(kinds.BYTES, gives=STRING)),
    "sha2": _function(
        kinds.BYTES,
        kinds.one_of(224, 256, 384, 512),
        gives=STRING,
    ),
    "crc32": _function(kinds.BYTES, gives=BIGINT),
    "xxhash64": _function(kinds.SIMPLE, gives=BIGINT, more=kinds.SIMPLE),
    "hash": _function(kinds.SIMPLE, gives=INT, more=kinds.SIMPLE),
    "hex": _function(kinds.of(STRING, BINARY, *WHOLE), gives=STRING),
    **_alike("char_length character_length", _function(kinds.TEXT, gives=INT)),
    **_alike("length octet_length", _function(kinds.BYTES, gives=INT)),
    "concat": _function(kinds.TEXT, gives=STRING, more=kinds.TEXT),
    "concat_ws": _function(kinds.FEW, kinds.TEXT, gives=STRING, more=kinds.TEXT),
    **_alike(
        "substring substr",
        Function(
            (kinds.TEXT, kinds.between(-1_000_000_000, 1_000_000_000)), STRING, (kinds.COUNT,)
        ),
    ),
    **_alike("left right", _function(kinds.TEXT, kinds.COUNT, gives=STRING)),
    "replace": _function(kinds.TEXT, kinds.SOME, kinds.FEW, gives=STRING),
    "translate": _function(kinds.TEXT, kinds.FEW, kinds.FEW, gives=STRING),
    **_alike(
        "lpad rpad", _function(kinds.TEXT, kinds.between(0, kinds.WIDEST), kinds.SOME, gives=STRING)
    ),
    "split_part": _function(
        kinds.TEXT, kinds.SOME, kinds.between(-1000, 1000, but=0), gives=STRING
    ),
    **_alike("startswith endswith contains", _function(kinds.TEXT, kinds.TEXT, gives=BOOLEAN)),
    **_alike("instr locate", _function(kinds.TEXT, kinds.TEXT, gives=INT)),
    **_alike(
        "try_validate_utf8 make_valid_utf8", _function(kinds.of(UNCHECKED, STRING), gives=STRING)
    ),
    "is_valid_utf8": _function(kinds.of(UNCHECKED, STRING), gives=BOOLEAN),
    "get_json_object": _function(kinds.TEXT, kinds.PATH, gives=STRING),
    "try_parse_json": _function(kinds.TEXT, gives=VARIANT, guard=guards.variant_of),
    "try_variant_get": _function(
        kinds.A_VARIANT, kinds.VARIANT_PATH, kinds.A_TYPE, gives=Named(type_read)
    ),
    "is_variant_null": _function(kinds.A_VARIANT, gives=BOOLEAN),
    "to_json": _function(kinds.A_VARIANT, gives=STRING),
    "decode": _function(
        kinds.of(BINARY),
        kinds.in_any_case(*guards.CHARSETS),
        gives=STRING,
        guard=guards.decoded,
    ),
    "unbase64": _function(kinds.TEXT, gives=BINARY, guard=guards.from_base64),
    "try_to_binary": _function(kinds.TEXT, kinds.one_of("base64", "hex"), gives=BINARY),
    "abs": _function(kinds.POINT, gives=lambda types: types[0]),
    "round": Function((kinds.POINT,), lambda types: types[0], (kinds.between(0, 15),)),
    "isnan": _function(kinds.POINT, gives=BOOLEAN),
    **_alike(
        "try_add try_subtract try_multiply",
        _function(kinds.NUMBER, kinds.NUMBER, gives=_whole_or_double),
    ),
    "try_divide": _function(
        kinds.NUMBER, kinds.NUMBER, gives=lambda types: _whole_or_double(types) and DOUBLE
    ),
    "try_mod": _function(kinds.INTEGER, kinds.INTEGER, gives=_common),
    "pmod": _function(kinds.of(*WHOLE[:3]), kinds.between(1, 2**31 - 1), gives=_common),
    **_alike("coalesce", _function(kinds.ANYTHING, gives=_common, more=kinds.ANYTHING)),
    **_alike("nvl ifnull", _function(kinds.ANYTHING, kinds.ANYTHING, gives=_common)),
    "nullif": _function(kinds.SIMPLE, kinds.SIMPLE, gives=_first),
    **_alike(
        "greatest least", _function(kinds.SIMPLE, kinds.SIMPLE, gives=_common, more=kinds.SIMPLE)
    ),
    "nvl2": _function(
        kinds.ANYTHING, kinds.ANYTHING, kinds.ANYTHING, gives=lambda types: _common(types[1:])
    ),
    "if": _function(
        kinds.CONDITION, kinds.ANYTHING, kinds.ANYTHING, gives=lambda types: _common(types[1:])
    ),
    **_alike(
        "year quarter month day dayofmonth dayofweek weekday dayofyear weekofyear",
        _function(kinds.DAY, gives=INT),
    ),
    **_alike("hour minute second", _function(kinds.of(TIMESTAMP), gives=INT)),
    **_alike("to_date date", _function(kinds.DAY, gives=DATE)),
    "last_day": _function(kinds.of(DATE), gives=DATE),
    **_alike("datediff date_diff", _function(kinds.of(DATE), kinds.of(DATE), gives=INT)),
    "date_trunc": _function(kinds.one_of(*kinds.OF_MOMENTS), kinds.of(TIMESTAMP), gives=TIMESTAMP),
    "trunc": _function(kinds.of(DATE), kinds.one_of(*kinds.OF_MOMENTS[:4]), gives=DATE),
    "date_format": _function(kinds.DAY, kinds.FORM, gives=STRING),
    **_alike("unix_seconds unix_millis unix_micros", _function(kinds.of(TIMESTAMP), gives=BIGINT)),
    "timestamp_seconds": _function(
        kinds.SECONDS, gives=TIMESTAMP, guard=guards.of_seconds("timestamp_seconds", 1)
    ),
    "timestamp_millis": _function(
        kinds.INTEGER, gives=TIMESTAMP, guard=guards.of_seconds("timestamp_millis", 10**3)
    ),
    "timestamp_micros": _function(
        kinds.INTEGER, gives=TIMESTAMP, guard=guards.of_seconds("timestamp_micros", 10**6)
    ),
    "date_from_unix_date": _function(kinds.of(*WHOLE[:3]), gives=DATE, guard=guards.day_of_number),
    "try_to_timestamp": _function(
        kinds.TEXT,
        kinds.READ_FORM,
        gives=TIMESTAMP,
        guard=guards.moment_by_pattern,
    ),
    "try_to_date": _function(kinds.TEXT, kinds.READ_FORM, gives=DATE, guard=guards.day_by_pattern),
    "unix_date": _function(kinds.of(DATE), gives=INT),
    **_alike("size cardinality", _function(kinds.MANY, gives=INT)),
    "array_size": _function(kinds.ARRAY, gives=INT),
    "array_contains": _function(kinds.ARRAY, kinds.SIMPLE, gives=_array_of_first),
    "array_join": _function(kinds.TEXTS, kinds.FEW, gives=STRING),
    "get": _function(kinds.ARRAY, kinds.between(0, 2**31 - 1), gives=_element),
    "try_element_at": _function(kinds.MAP, kinds.TEXT, gives=_element),
    "map_contains_key": _function(kinds.MAP, kinds.TEXT, gives=BOOLEAN),
    "map_keys": _function(kinds.MAP, gives=Array(STRING)),
    "map_values": _function(kinds.MAP, gives=lambda types: Array(types[0].value)),  # type: ignore[union-attr]
}
# What people write first, and what has an answer for every value.
INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(
        ("to_timestamp", "timestamp"), "try_cast(… AS TIMESTAMP) or try_to_timestamp(…, 'pattern')"
    ),
    "from_unixtime": "date_format(timestamp_seconds(…), 'pattern')",
    **dict.fromkeys(
        ("unix_timestamp", "to_unix_timestamp"), "unix_seconds(try_to_timestamp(…, 'pattern'))"
    ),
    "to_binary": "try_to_binary(…, 'base64')",
    "unhex": "try_to_binary(…, 'hex')",
    "parse_json": "try_parse_json(…)",
    "variant_get": "try_variant_get(…, '$.a', 'STRING')",
    "schema_of_variant": "to_json(…): it takes seconds for a record of many names",
    "json_tuple": "get_json_object(…, '$.name') for each",
    **dict.fromkeys(("int", "bigint", "double", "float", "decimal"), "try_cast(… AS …)"),
    "element_at": "get(array, 0) or try_element_at(map, 'key')",
    **dict.fromkeys(("string", "validate_utf8"), "try_validate_utf8(CAST(… AS STRING))"),
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
