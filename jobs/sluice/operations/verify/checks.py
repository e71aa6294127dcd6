"""Checks: whether the tables and Kafka agree, partition by partition. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged, without
from sluice.offsets.row_offsets import Mask, Offsets, Rows
from sluice.progress.committed_ranges import CommittedRange, CountedRange
from sluice.progress.evidence import Evidence

_SHOWN = 5
_RANGES_NAMED = 20


@dataclass(frozen=True)
class Violation:
    """An invariant that does not hold, where, and what was expected and found.

    `again` is what puts it right when it is read again: Kafka holds the records of these offsets.
    """

    invariant: str
    partition: TopicPartition
    expected: str
    found: str
    again: tuple[OffsetRange, ...] = ()

    def __str__(self) -> str:
        return f"{self.invariant}: {self.partition}: expected {self.expected}, found {self.found}"


SAME_LOG = "same log"
INVARIANTS = {
    SAME_LOG: "Kafka's log is the one that was read",
    "complete": "records read are stored, quarantined or recorded as lost",
    "unique": "no record is stored twice",
    "tiled": "each batch begins where the one before it ended",
    "no phantom": "each row is of a record that its batch has read",
    "accounted": "each batch has the rows that its receipt counts",
}
"""Each invariant, and what it says."""

# Those that only Kafka can prove.
BY_KAFKA = (SAME_LOG, "complete", "no phantom")


def check(evidence: Evidence) -> list[Violation]:
    """The violations found in one partition; empty if all invariants hold."""
    found: list[Violation] = []
    for invariant, problems_of in _CHECKS.items():
        found += [Violation(invariant, evidence.partition, *each) for each in problems_of(evidence)]
    return found


Problems = Iterator[tuple[str, str] | tuple[str, str, tuple[OffsetRange, ...]]]
"""What was expected, what was found, and what puts it right when it is read again, if anything."""


def _complete(evidence: Evidence) -> Problems:
    required = evidence.visible[_in_ranges(evidence.visible, _ranges(evidence))]
    missing = np.setdiff1d(required, np.union1d(evidence.stored.offsets, evidence.excused))
    missing = missing[~_in_ranges(missing, merged(evidence.given_up))]
    missing = _without_left_out(evidence, missing)
    if len(missing):
        found = f"{len(missing)} missing: {_sample(missing)}"
        yield "every record that Kafka shows", found, _again(evidence, missing)


def _without_left_out(evidence: Evidence, missing: Offsets) -> Offsets:
    """Without what reads left out whose commits are lost: of each as many as its receipt counts."""
    newest = evidence.newest_read(missing)
    for place in np.unique(newest).tolist():
        if place < 0 or evidence.left_out_by(place) is not None:
            continue
        if np.count_nonzero(newest == place) <= evidence.reads[place].filtered:
            missing, newest = missing[newest != place], newest[newest != place]
    return missing


def _unique(evidence: Evidence) -> Problems:
    offsets, counts = np.unique(evidence.stored.offsets, return_counts=True)
    repeated = offsets[counts > 1]
    if len(repeated):
        found = f"{len(repeated)} offsets repeated: {_sample(repeated)}"
        yield "one row for an offset", found, _again(evidence, repeated)


def _again(evidence: Evidence, offsets: Offsets) -> tuple[OffsetRange, ...]:
    """Those that Kafka shows, and that batches have read: the first ones, where many lie apart."""
    shown = np.intersect1d(offsets, evidence.visible)
    spans = OffsetRuns.of(shown[_in_ranges(shown, _ranges(evidence))]).spans
    return tuple(OffsetRange(evidence.partition, *each) for each in spans[:_RANGES_NAMED])


def _tiled(evidence: Evidence) -> Problems:
    forward = sorted(
        (read for read in evidence.reads if read.forward and read.checked),
        key=lambda read: read.generation,
    )
    began = False
    for generation, reads in groupby(forward, key=lambda read: read.generation):
        cursor = evidence.openings.get(generation)
        for read in reads:
            if cursor is None and began and generation not in evidence.openings:
                yield f"a reset that says where {read.batch} starts", f"none, and {read.offsets}"
            if cursor is not None and not _continues(cursor, read.offsets, evidence.lost):
                yield f"a range that starts at {cursor}", str(read.offsets)
            cursor, began = read.offsets.end, True


def _continues(cursor: int, offsets: OffsetRange, lost: Sequence[OffsetRange]) -> bool:
    """Whether a range begins at the cursor, or behind nothing but recorded losses."""
    if offsets.start < cursor:
        return False
    hole = OffsetRange(offsets.partition, cursor, offsets.start)
    return not without([hole], lost)


def _no_phantom(evidence: Evidence) -> Problems:
    rows, ranges = evidence.stored, _ranges(evidence)
    inside = _in_ranges(rows.offsets, ranges)
    outside = rows.offsets[~inside]
    if len(outside):
        named = ", ".join(f"[{each.start}, {each.end})" for each in ranges)
        yield f"rows of {named or 'nothing'} only", f"{len(outside)} others: {_sample(outside)}"
    strange = rows.offsets[inside & ~_in_own_range(rows, evidence.reads)]
    if len(strange):
        yield "rows of the batches that read them", f"{len(strange)} others: {_sample(strange)}"
    left_out = np.unique(rows.offsets[inside & evidence.rows_left_out])
    if len(left_out):
        found = f"{format_count(len(left_out), 'row')}: {_sample(left_out)}"
        yield "no row of a record that `only` left out", found, _again(evidence, left_out)
    never = np.intersect1d(evidence.unseen, evidence.never)
    if len(never):
        yield "only records that Kafka shows", f"{len(never)} others: {_sample(never)}"


def _accounted(evidence: Evidence) -> Problems:
    """A missing row is reported once: for the newest batch that should have it."""
    records, gone = _rows_per_read(evidence.data, evidence), _rows_per_read(evidence.gone, evidence)
    quarantined = _rows_per_read(evidence.ever_quarantined, evidence)
    found: list[tuple[str, str]] = []
    short: list[tuple[OffsetRange, int]] = []
    for place in reversed(range(len(evidence.reads))):
        read = evidence.reads[place]
        if not read.checked:
            continue
        lines = [line.offsets for line in read.receipts]
        if lines != ([read.offsets] if read.due else []):
            named = ", ".join(map(str, lines)) or "none"
            required = f"one receipt for {read.offsets}" if read.due else "no receipt"
            found.insert(0, (f"{required} of {read.batch}", named))
            continue
        told = sum(count for offsets, count in short if _overlap(offsets, read.offsets))
        for line in read.receipts:
            counts = [
                (line.records, int(records[place] + gone[place]), "records"),
                (line.quarantined, int(quarantined[place]), "quarantined"),
                (line.filtered, _left_out(evidence, place, line), "filtered"),
            ]
            fewer = sum(max(0, stated - there) for stated, there, _ in counts)
            missing = max(0, fewer - told - (evidence.replaced(place) if fewer else 0))
            short.append((read.offsets, missing))
            found[:0] = _differing(evidence, place, counts, missing)
    yield from found


def _left_out(evidence: Evidence, place: int, line: CountedRange) -> int:
    told = evidence.left_out_by(place)
    return line.filtered if told is None else told


def _differing(
    evidence: Evidence, place: int, counts: Sequence[tuple[int, int, str]], missing: int
) -> Iterator[tuple[str, str]]:
    """Where a receipt counts other rows than there are, and nothing excuses just these."""
    more = sum(max(0, there - stated) for stated, there, _ in counts)
    # Rows of a batch that was closed uncounted.
    strange = more > _given_up(evidence, place) if more else False
    read = evidence.reads[place]
    for stated, there, what in counts:
        if (there < stated and missing) or (there > stated and strange):
            expected = f"{stated} {what} of {read.batch} in {read.offsets}, as in its receipt"
            yield expected, f"{there} rows"


def _overlap(one: OffsetRange, other: OffsetRange) -> bool:
    return max(one.start, other.start) < min(one.end, other.end)


def _given_up(evidence: Evidence, place: int) -> int:
    """How many rows of a read a person has given up, not knowing whether they are there."""
    rows = evidence.data.and_(evidence.gone).and_(evidence.ever_quarantined)
    mine = rows.offsets[rows.reads == place]
    return int(np.count_nonzero(_in_ranges(mine, merged(evidence.given_up))))


def _rows_per_read(rows: Rows, evidence: Evidence) -> Offsets:
    """How many rows belong to each read, by its index."""
    return np.bincount(rows.reads[rows.reads >= 0], minlength=len(evidence.reads))


def _in_own_range(rows: Rows, reads: Sequence[CommittedRange]) -> Mask:
    """Which rows lie in the range of the batch that they name; -1 selects the last, empty range."""
    starts = np.array([read.offsets.start for read in reads] + [0], dtype=np.int64)
    ends = np.array([read.offsets.end for read in reads] + [0], dtype=np.int64)
    own: Mask = (rows.offsets >= starts[rows.reads]) & (rows.offsets < ends[rows.reads])
    return own


def _ranges(evidence: Evidence) -> list[OffsetRange]:
    return merged([read.offsets for read in evidence.reads])


def _in_ranges(offsets: Offsets, ranges: Sequence[OffsetRange]) -> Mask:
    """Which offsets lie in one of the ranges, which ascend and do not touch."""
    starts = np.array([each.start for each in ranges] + [np.iinfo(np.int64).max], dtype=np.int64)
    ends = np.array([each.end for each in ranges] + [-1], dtype=np.int64)
    inside: Mask = offsets < ends[np.searchsorted(starts, offsets, side="right") - 1]
    return inside


def _sample(offsets: Offsets) -> str:
    shown = ", ".join(str(offset) for offset in offsets[:_SHOWN])
    return f"{shown}{', …' if len(offsets) > _SHOWN else ''}"


_CHECKS = {
    "complete": _complete,
    "unique": _unique,
    "tiled": _tiled,
    "no phantom": _no_phantom,
    "accounted": _accounted,
}
