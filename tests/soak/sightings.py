"""What a reader saw of the data table at its versions, and whether it was whole batches only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# Batch and partition → rows.
Counts = Mapping[tuple[str, int], int]


@dataclass(frozen=True)
class Sighting:
    """One look: what differs from the look before. 0 rows: none any more."""

    version: int
    changed: Counts
    repeated: int = 0


@dataclass(frozen=True)
class Landing:
    """A version that a batch landed in, with its offset range in each partition."""

    version: int
    batch: str
    ranges: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Restored:
    """A version that took the table back to an older one."""

    version: int
    to: int


Event = Landing | Restored
# Partition → offsets of the records that belong into the data table, ascending.
Stored = Mapping[int, np.ndarray]


def changes(before: Counts, now: Counts) -> dict[tuple[str, int], int]:
    """What a look saw that the one before did not."""
    gone = dict.fromkeys(before.keys() - now.keys(), 0)
    return gone | {at: rows for at, rows in now.items() if before.get(at) != rows}


def held(version: int, events: Sequence[Event], stored: Stored) -> Counts:
    """What a version must hold: each record, as the last batch wrote it that has read it."""
    landings = list(_in_effect(version, events))
    counts: Counter[tuple[str, int]] = Counter()
    for partition, offsets in stored.items():
        owner = np.full(len(offsets), -1)
        for number, landing in enumerate(landings):
            start, end = landing.ranges.get(partition, (0, 0))
            first, last = np.searchsorted(offsets, [start, end])
            owner[first:last] = number
        for number, rows in zip(*np.unique(owner[owner >= 0], return_counts=True), strict=True):
            counts[landings[number].batch, partition] += int(rows)
    return counts


def torn(sightings: Iterable[Sighting], events: Sequence[Event], stored: Stored) -> Iterator[str]:
    """A sentence for every look at something else than whole batches."""
    seen: dict[tuple[str, int], int] = {}
    last = -1
    for look in sightings:
        if look.version < last:
            yield f"the reader saw version {look.version} after version {last}"
        if look.repeated:
            yield f"version {look.version}: {look.repeated} rows more than once"
        last = look.version
        seen = {at: rows for at, rows in {**seen, **look.changed}.items() if rows}
        expected = held(look.version, events, stored)
        for batch, partition in sorted(seen.keys() | expected.keys()):
            found, rows = seen.get((batch, partition), 0), expected.get((batch, partition), 0)
            if found != rows:
                yield (
                    f"version {look.version}: {batch}, partition {partition}:"
                    f" expected {rows} rows, the reader saw {found}"
                )


def _in_effect(version: int, events: Sequence[Event]) -> Iterator[Landing]:
    restores = [each for each in events if isinstance(each, Restored) and each.version <= version]
    since = -1
    if restores:
        newest = max(restores, key=lambda each: each.version)
        since = newest.version
        yield from _in_effect(newest.to, [each for each in events if each.version < since])
    yield from (
        each for each in events if isinstance(each, Landing) and since < each.version <= version
    )
