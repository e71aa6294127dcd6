"""Table rules: the CHECK constraints and NOT NULL columns that others gave a table. Pure.

Delta refuses a whole batch for one row that breaks a rule. So each rule becomes an expression that
has a result for every row: a row that breaks it is quarantined like an undecodable record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sluice.columns.columns import Column
from sluice.columns.names import as_compared, quoted
from sluice.derived.casts import BOOLEAN
from sluice.derived.guards import OUR_VARIANT
from sluice.derived.typed import Typed
from sluice.spec_file.table_settings import TableSettings

CONSTRAINT = "delta.constraints."


@dataclass(frozen=True)
class TableRule:
    """A rule: the constraint or column that has it, in words, and as Spark is given it.

    `ends_with` is the SQL that ends it, behind ALTER TABLE. `why_not` says why rows cannot be
    judged by it here; `sql` is empty then.
    """

    name: str
    words: str
    sql: str
    ends_with: str
    why_not: str = ""

    @property
    def broken(self) -> str:
        """The error of a record whose row breaks it."""
        return f"the table's {self.words} is broken"


def rules_of(settings: TableSettings, columns: Iterable[Column]) -> tuple[TableRule, ...]:
    """The rules of a table, over the columns that a batch gives values to."""
    given = tuple(columns)
    checks = [
        (key.removeprefix(CONSTRAINT), text)
        for key, text in sorted(settings.properties.items())
        if key.startswith(CONSTRAINT)
    ]
    return (*_not_null(settings, given), *_checks(tuple(checks), given))


def _not_null(settings: TableSettings, given: tuple[Column, ...]) -> Iterator[TableRule]:
    names = {as_compared(each.name) for each in given}
    for column, *below in settings.not_null:
        name, whole = ".".join((column, *below)), ".".join(map(quoted, (column, *below)))
        sql, why_not = f"{whole} IS NOT NULL", "it is part of a column" if below else ""
        if not below and as_compared(column) not in names:
            why_not = "no record gives it a value"
        ends_with = f"ALTER COLUMN {whole} DROP NOT NULL"
        yield TableRule(name, f"NOT NULL of {name}", "" if why_not else sql, ends_with, why_not)


@lru_cache(maxsize=64)
def _checks(
    checks: tuple[tuple[str, str], ...], given: tuple[Column, ...]
) -> tuple[TableRule, ...]:
    known = {
        as_compared(each.name): Typed(quoted(each.name), each.type, None, each.name)
        for each in given
    }
    return tuple(_check(name, text, known) for name, text in checks)


def _check(name: str, text: str, known: Mapping[str, Typed]) -> TableRule:
    # The grammar takes a tenth of a second to load; most tables have no constraint.
    from sluice.derived.expressions import read_expression

    words, ends_with = f"CHECK constraint {name} ({text})", f"DROP CONSTRAINT {quoted(name)}"
    try:
        typed = read_expression(text, known)
    except ValueError as problem:
        return TableRule(name, words, "", ends_with, str(problem))
    why_not = ""
    if typed.type != BOOLEAN:
        why_not = f"found a {typed.type}; expected a BOOLEAN"
    elif OUR_VARIANT in typed.sql:
        why_not = "found try_parse_json(…), which reads other texts in Delta than in Sluice"
    if why_not:
        return TableRule(name, words, "", ends_with, why_not)
    return TableRule(name, words, typed.sql, ends_with)
