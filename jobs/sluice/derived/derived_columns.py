"""Derived columns: what a table has besides a record's fields, by expressions of the spec. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sluice.columns.columns import Column, ColumnType, parse_columns
from sluice.columns.names import as_compared, is_ours, quoted, unfit
from sluice.derived.casts import BOOLEAN
from sluice.derived.typed import Typed
from sluice.derived.written_values import within_years

COORDINATES = parse_columns(
    "_topic STRING, _topic_id STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP,"
    " _key BINARY, _headers ARRAY<STRUCT<key: STRING, value: BINARY>>, _tombstone BOOLEAN"
)
# Sluice's own columns of the data table.
OURS = (*COORDINATES, *parse_columns("_batch STRING"))


@dataclass(frozen=True)
class DerivedColumn:
    """A derived column: the expression as the spec has it, as Spark is given it, and its type."""

    name: str
    written: str
    sql: str
    type: ColumnType


def derived_columns(
    derived: Mapping[str, str], columns: Iterable[Column]
) -> tuple[DerivedColumn, ...]:
    """The derived columns over a record's fields and coordinates, in the spec's order.

    Raises ValueError with the column, what was found and what is allowed.
    """
    return _derived(tuple(derived.items()), tuple(columns))


@lru_cache(maxsize=64)
def _derived(
    derived: tuple[tuple[str, str], ...], columns: tuple[Column, ...]
) -> tuple[DerivedColumn, ...]:
    known = dict(_named(columns))
    return tuple(_read(name, text, known) for name, text in derived)


def _named(columns: Iterable[Column]) -> Iterator[tuple[str, Typed]]:
    for each in (*columns, *COORDINATES):
        sql = quoted(each.name)
        # A producer may write any number as a record's time; fields are judged when decoded.
        beyond = each.name == "_timestamp"
        yield (
            as_compared(each.name),
            Typed(within_years(sql, each.type) if beyond else sql, each.type, None, each.name),
        )


def _read(name: str, text: str, known: Mapping[str, Typed]) -> DerivedColumn:
    # The grammar takes a tenth of a second to load; most specs have no expression.
    from sluice.derived.expressions import read_expression

    try:
        found = read_expression(text, known)
    except ValueError as problem:
        raise ValueError(f"derived.{name}: {problem}") from None
    return DerivedColumn(name, text, found.sql, found.type)


def read_condition(text: str, columns: Iterable[Column]) -> str:
    """A condition over a record's fields and coordinates, as Spark is given it.

    Raises ValueError with what was found and what is allowed.
    """
    from sluice.derived.expressions import read_expression

    found = read_expression(text, dict(_named(columns)))
    if found.type != BOOLEAN:
        raise ValueError(f"expected a condition, found a {found.type}")
    return found.sql


def require_free_names(derived: Iterable[str]) -> None:
    """Raises ValueError for a name that a derived column may not have."""
    seen: set[str] = set()
    for name in derived:
        if is_ours(name):
            raise ValueError(
                f"derived.{name}: expected another name: Sluice has its own column of it"
            )
        if why := unfit(name, seen):
            raise ValueError(f"derived.{name}: {why}")
        seen.add(as_compared(name))
