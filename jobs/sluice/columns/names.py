"""Column names: which a table can have, which are Sluice's own, and how SQL has them. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

# They are in the data table whatever its spec says (docs/tables.md); `_rescued` where it is asked.
OURS = (
    *("_topic", "_topic_id", "_partition", "_offset", "_timestamp", "_key", "_headers"),
    *("_tombstone", "_batch", "_rescued"),
)
KEY_PREFIX = "_key_"
# Delta's own list is " ,;{}()\n\t="; no reader shows a carriage return, and delta-rs reads no NUL.
NOT_IN_NAMES = " ,;{}()=\n\r\t\0"
BAD_NAME = "a column name must not hold spaces, line ends or any of ,;{}()=, nor NUL"
NO_TEXT = "a column name must be text, found half of a surrogate pair"
OWN_NAME = "Sluice has its own column of this name"
TWIN = "declared twice (Delta ignores case in column names)"
TAKEN = "a column of `columns` has its name (Delta ignores case in column names)"
ELSEWHERE = "`columns` takes such a field under another name"
_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted(name: str) -> str:
    """A name as Spark SQL, and Delta's lists of columns, take any name."""
    return "`" + name.replace("`", "``") + "`"


def written(name: str) -> str:
    """A name as a person writes it in SQL: quoted where it needs to be."""
    return name if _PLAIN.fullmatch(name) else quoted(name)


def is_beyond_16_bits(name: str) -> bool:
    """Whether the name has a character that Java counts as two, such as an emoji."""
    return any(each > "\uffff" for each in name)


def as_compared(name: str) -> str:
    """Without case, letter by letter as Java does: to Spark an i without its dot is an i."""
    capitals = (each.upper() if len(each.upper()) == 1 else each for each in name)
    return "".join(each.lower()[0] for each in capitals)


def is_ours(name: str, also: Container[str] = ()) -> bool:
    """Whether a column of the name is one that Sluice adds; `also`: those that a format has."""
    compared = as_compared(name)
    return compared in OURS or compared in also or compared.startswith(KEY_PREFIX)


def require_not_ours(names: Iterable[str], also: Container[str] = ()) -> None:
    """Raises ValueError for a name that is Sluice's own."""
    for name in names:
        if is_ours(name, also):
            raise ValueError(f"{name}: {OWN_NAME}")


def require_name(name: str, seen: set[str]) -> None:
    """Add a column's name to those seen beside it. Raises ValueError for one that cannot be."""
    if why := unfit(name, seen):
        raise ValueError(f"{name if why is TWIN else repr(name)}: {why}")
    seen.add(as_compared(name))


def unfit(name: str, seen: Container[str]) -> str:
    """Why no column can have a name beside those that are there, as compared; else empty."""
    if not name or set(NOT_IN_NAMES) & set(name):
        return BAD_NAME
    if _SURROGATE.search(name):
        return NO_TEXT
    return TWIN if as_compared(name) in seen else ""
