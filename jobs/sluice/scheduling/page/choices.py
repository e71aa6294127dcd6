"""Choices: which pipelines the list shows, in which order, and what many of them share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from sluice.operations.overview.overview import Condition, named_by_reason, worst_first
from sluice.scheduling.page.rows import Row

# With more pipelines, only the first; all of them are one click away.
_FIRST = 100
_LONGEST_NAME = 100
_NAMED = 20

# What a column is sorted by, and whether the largest comes first; None where it is unknown.
COLUMNS: Mapping[str, tuple[Callable[[Row], object], bool]] = {
    "name": (lambda row: row.name, False),
    "cursor": (lambda row: row.progress.positions if row.progress else None, True),
    "lso": (lambda row: row.told.last_stable if row.told else None, True),
    "lag": (lambda row: row.told.lag if row.told else None, True),
    "age": (lambda row: row.told.age if row.told else None, True),
    "loss": (lambda row: _soonest(row), False),
    "last": (lambda row: row.last.settled.at if row.last else None, True),
    "until": (lambda row: row.complete_until, False),
    "quarantine": (lambda row: row.in_quarantine, True),
    "lost": (lambda row: row.progress.lost if row.progress else None, True),
}

# The columns of the list, each with its title, and what it is sorted by; empty where it is not.
TITLES: Sequence[tuple[str, str]] = (
    ("name", "Pipeline"),
    ("", "Topics"),
    ("", "Schedule"),
    ("", "Lag over time"),
    ("lag", "Lag"),
    ("age", "Oldest unread"),
    ("loss", "Time to loss"),
    ("until", "Complete until (UTC)"),
    ("last", "Last batch"),
    ("", "Settled (UTC)"),
    ("", "Records"),
    ("quarantine", "In quarantine"),
    ("lost", "Lost"),
    ("cursor", "Cursor"),
    ("lso", "LSO"),
)


@dataclass(frozen=True)
class Choice:
    """What an address asks for: a state, a part of the name, an order, all of them."""

    state: str = ""
    name: str = ""
    sort: str = ""
    every: bool = False

    @property
    def column(self) -> str:
        """The column that it is sorted by; empty for the worst first."""
        return self.sort.removeprefix("-")

    @property
    def is_known(self) -> bool:
        """Whether there is such a state and such a column."""
        return self.state in ("", *Condition) and self.column in ("", *COLUMNS)

    def address(self, **changes: object) -> str:
        """The list's address with these changes; what is not chosen is left out."""
        asked = {name: value for name, value in {**vars(self), **changes}.items() if value}
        return f"?{urlencode({name: _text(value) for name, value in asked.items()})}"

    def sorting(self, column: str) -> str:
        """The address that sorts by a column; the other way round if it is sorted so now."""
        return self.address(sort=f"-{column}" if self.sort == column else column)

    def direction(self, column: str) -> str:
        """How a column is sorted, as `aria-sort` says it; empty where it is not."""
        if self.column != column:
            return ""
        is_down = COLUMNS[column][1] != self.sort.startswith("-")
        return "descending" if is_down else "ascending"

    def of(self, rows: Iterable[Row]) -> tuple[list[Row], int]:
        """The rows that are shown, in their order, and how many more there are."""
        named = self.name.strip().lower()[:_LONGEST_NAME]
        found = worst_first(
            row
            for row in rows
            if self.state in ("", row.condition.value) and named in row.name.lower()
        )
        if self.column:
            found = self._sorted(found)
        shown = found if self.every else found[:_FIRST]
        return shown, len(found) - len(shown)

    def _sorted(self, rows: Sequence[Row]) -> list[Row]:
        value, largest_first = COLUMNS[self.column]
        known = [row for row in rows if value(row) is not None]
        unknown = [row for row in rows if value(row) is None]
        down = largest_first != self.sort.startswith("-")
        return [*sorted(known, key=value, reverse=down), *unknown]  # type: ignore[arg-type]


@dataclass(frozen=True)
class SharedReason:
    """Why several pipelines are as they are; `more` of them are not named."""

    condition: Condition
    reason: str
    names: tuple[str, ...]
    more: int


def shared_reasons(rows: Iterable[Row]) -> list[SharedReason]:
    """The reasons that more than one pipeline has, each once."""
    return [
        SharedReason(condition, reason, tuple(names[:_NAMED]), max(0, len(names) - _NAMED))
        for (condition, reason), names in named_by_reason(rows).items()
        if len(names) > 1
    ]


def _soonest(row: Row) -> timedelta | None:
    """The shortest known time to loss."""
    found = [each.time_to_loss for each in row.told.lags] if row.told else []
    return min((each for each in found if each is not None), default=None)


def _text(value: object) -> str:
    return "true" if value is True else str(value)
