"""Column list: a table's columns as CREATE TABLE has them, whatever their names hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sluice.columns.columns import Column
from sluice.columns.names import quoted
from sluice.derived.written_values import text_of

_QUOTED = re.compile(r"`(?:[^`]|``)+`")
_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")


def column_list(columns: Iterable[Column], comments: Mapping[str, str]) -> str:
    """The columns with their comments, without a character that Java counts as two.

    Delta counts both ways when it cuts CLUSTER BY out of a statement, and would cut elsewhere.
    """
    return ", ".join(f"{_declared(each)}{comment(comments.get(each.name))}" for each in columns)


def comment(text: str | None) -> str:
    """A column's comment, as Spark SQL has it behind the column; nothing without one."""
    return f" COMMENT {_escaped(text_of(text).sql)}" if text else ""


def _declared(column: Column) -> str:
    return _QUOTED.sub(_name, f"{quoted(column.name)} {column.type}")


def _name(found: re.Match[str]) -> str:
    if not _BEYOND_16_BITS.search(found[0]):
        return found[0]
    return f"IDENTIFIER({_escaped(text_of(found[0]).sql)})"


def _escaped(text: str) -> str:
    return _BEYOND_16_BITS.sub(lambda found: f"\\U{ord(found[0]):08X}", text)
