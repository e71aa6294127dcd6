"""State counts: what one commit of a state table did, in rows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class StateCounts:
    """The rows of a span that only appended, each counted once: their sum is how many it added.

    `inserted` and `updated` are rows that the state has now, of keys that it had not or had;
    `deleted` those that delete their key. `superseded` are older than another row of the span, and
    `stale` older than the state's; `unkeyed` have no key. Messages among change events are not
    counted. For other spans, keys are counted instead: `stale` are those whose row is as before,
    `deleted` also those that are gone.
    """

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    superseded: int = 0
    stale: int = 0
    unkeyed: int = 0

    def __post_init__(self) -> None:
        if wrong := [name for name, count in asdict(self).items() if count < 0]:
            raise ValueError(f"{self}: expected no count below 0, found {wrong}")

    @property
    def total(self) -> int:
        """All of them."""
        return sum(asdict(self).values())

    @property
    def changed(self) -> int:
        """The rows of the state that are other than before."""
        return self.inserted + self.updated + self.deleted

    def as_dict(self) -> Mapping[str, int]:
        """By name."""
        return asdict(self)

    def __str__(self) -> str:
        named = (f"{count:,} {name}" for name, count in asdict(self).items() if count)
        return ", ".join(named) or "no row changed"


NOTHING = StateCounts()


def together(counts: Iterable[StateCounts]) -> StateCounts:
    """The counts of several commits as one."""
    found = [asdict(each) for each in counts]
    return StateCounts(**{name: sum(each[name] for each in found) for name in asdict(NOTHING)})
