"""Column names: which a table can have, which are Sluice's own, and how SQL has them. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable

# They are in the data table whatever its spec says (docs/tables.md); `_rescued` where it is asked.
OURS = (
    *("_topic", "_topic_id", "_partition", "_offset", "_timestamp", "_key", "_headers"),
    *("_tombstone", "_batch", "_rescued"),
)
KEY_PREFIX = "_key_"
# Delta refuses all but the carriage return, which no reader shows (its own list: " ,;{}()\n\t=").
NOT_IN_NAMES = " ,;{}()=\n\r\t"
BAD_NAME = "a column name must not hold spaces, line ends or any of ,;{}()="
OWN_NAME = "Sluice has its own column of this name"
TWIN = "declared twice (Delta ignores case in column names)"


def quoted(name: str) -> str:
    """A name as Spark SQL, and Delta's lists of columns, take any name."""
    return "`" + name.replace("`", "``") + "`"


def as_compared(name: str) -> str:
    """Without case, letter by letter as Java does: to Spark an i without its dot is an i."""
    capitals = (each.upper() if len(each.upper()) == 1 else each for each in name)
    return "".join(each.lower()[0] for each in capitals)


def is_ours(name: str) -> bool:
    """Whether a column of the name is one that Sluice adds."""
    compared = as_compared(name)
    return compared in OURS or compared.startswith(KEY_PREFIX)


def require_not_ours(names: Iterable[str]) -> None:
    """Raises ValueError for a name that is Sluice's own."""
    for name in names:
        if is_ours(name):
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
    return TWIN if as_compared(name) in seen else ""
