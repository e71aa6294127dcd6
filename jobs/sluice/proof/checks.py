"""Checks: whether the tables and Kafka agree, partition by partition. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.proof.accounting import Counted

Offsets = npt.NDArray[np.int64]
_SHOWN = 5


@dataclass(frozen=True)
class Evidence:
    """What was found of one partition.

    `ranges` are the committed forward ranges in the order of their batches, of which the first
    `settled` ones have a receipt; `lost` are recorded losses. `readable` is what Kafka still holds,
    and `visible` the offsets there that a read_committed client sees.
    """

    partition: TopicPartition
    ranges: Sequence[OffsetRange]
    settled: int
    receipts: Sequence[Counted]
    lost: Sequence[OffsetRange]
    readable: OffsetRange
    visible: Offsets
    data: Offsets
    quarantined: Offsets
    compacts: bool


@dataclass(frozen=True)
class Violation:
    """An invariant that does not hold, where, and what was expected and found."""

    invariant: str
    partition: TopicPartition
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.partition}: expected {self.expected}, found {self.found}"


INVARIANTS = ("complete", "unique", "tiled", "no phantom", "accounted")


def check(evidence: Evidence) -> list[Violation]:
    """Everything that is wrong with one partition; nothing where all invariants hold."""
    found: list[Violation] = []
    for invariant, problems in zip(
        INVARIANTS,
        (
            _complete(evidence),
            _unique(evidence),
            _tiled(evidence),
            _no_phantom(evidence),
            _accounted(evidence),
        ),
        strict=True,
    ):
        found += [Violation(invariant, evidence.partition, *each) for each in problems]
    return found


Problems = Iterator[tuple[str, str]]


def _complete(evidence: Evidence) -> Problems:
    stored = np.union1d(evidence.data, evidence.quarantined)
    missing = np.setdiff1d(evidence.visible, stored)
    if len(missing):
        yield "every record that Kafka shows", f"{len(missing)} missing: {_some(missing)}"


def _unique(evidence: Evidence) -> Problems:
    offsets, counts = np.unique(
        np.concatenate([evidence.data, evidence.quarantined]), return_counts=True
    )
    repeated = offsets[counts > 1]
    if len(repeated):
        yield "one row for an offset", f"{len(repeated)} offsets repeated: {_some(repeated)}"


def _tiled(evidence: Evidence) -> Problems:
    for earlier, later in zip(evidence.ranges, evidence.ranges[1:], strict=False):
        hole = (earlier.end, later.start)
        recorded = hole in {(each.start, each.end) for each in evidence.lost}
        if not later.follows(earlier) and not recorded:
            yield f"a range that starts at {earlier.end}", str(later)


def _no_phantom(evidence: Evidence) -> Problems:
    rows = np.concatenate([evidence.data, evidence.quarantined])
    first, last = evidence.ranges[0].start, evidence.ranges[-1].end
    outside = rows[(rows < first) | (rows >= last)]
    if len(outside):
        yield f"rows of [{first}, {last}) only", f"{len(outside)} others: {_some(outside)}"
    if evidence.compacts:
        return  # Records may leave such a topic after they were read.
    held = rows[(rows >= evidence.readable.start) & (rows < evidence.readable.end)]
    unseen = np.setdiff1d(held, evidence.visible)
    if len(unseen):
        yield "only records that Kafka shows", f"{len(unseen)} others: {_some(unseen)}"


def _accounted(evidence: Evidence) -> Problems:
    planned = list(evidence.ranges[: evidence.settled])
    receipts = [line.planned.offsets for line in evidence.receipts]
    if receipts != planned:
        found, expected = next(
            pair for pair in zip_longest(receipts, planned) if pair[0] != pair[1]
        )
        yield f"a receipt for {expected or 'no further range'}", f"one for {found or 'none'}"
    for line in evidence.receipts:
        offsets = line.planned.offsets
        rows = _count(evidence.data, offsets)
        if rows != line.records:
            yield f"{line.records} records in {offsets}, as in its receipt", f"{rows} rows"
        refused = _count(evidence.quarantined, offsets)
        if refused != line.quarantined:
            yield f"{line.quarantined} quarantined in {offsets}, as in its receipt", str(refused)


def _count(offsets: Offsets, within: OffsetRange) -> int:
    return int(((offsets >= within.start) & (offsets < within.end)).sum())


def _some(offsets: Offsets) -> str:
    shown = ", ".join(str(offset) for offset in offsets[:_SHOWN])
    return f"{shown}{', …' if len(offsets) > _SHOWN else ''}"
