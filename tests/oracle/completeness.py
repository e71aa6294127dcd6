"""Which records are there: invariants 1 (complete), 2 (unique), 7 (no phantom) and 10 (live)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracle.coordinates import SPAN, Keys, members, repeated, some
from tests.oracle.drops import forgotten
from tests.oracle.evidence import Evidence
from tests.oracle.violation import Violation


def complete(evidence: Evidence) -> Iterator[Violation]:
    """Data and live quarantine together hold every record of the committed ranges."""
    wanted = evidence.held[evidence.newest(evidence.held) >= 0]
    stored = np.unique(np.concatenate([evidence.rows.keys, evidence.live_quarantine.keys]))
    told = np.union1d(evidence.told_lost, forgotten(evidence))
    told = np.union1d(told, evidence.left_out)
    missing = wanted[~members(wanted, np.union1d(stored, told))]
    for name, offsets in evidence.coordinates.by_partition(missing):
        yield Violation(1, name, "every record of the committed ranges", f"missing {some(offsets)}")


def of_its_kind(evidence: Evidence) -> Iterator[Violation]:
    """Nothing is stored that the pipeline is to leave out."""
    stored = np.unique(np.concatenate([evidence.rows.keys, evidence.live_quarantine.keys]))
    strange = stored[members(stored, evidence.left_out)]
    for name, offsets in evidence.coordinates.by_partition(strange):
        yield Violation(7, name, "records of its kind only", f"others {some(offsets)}")


def began_at_log_start(evidence: Evidence) -> Iterator[Violation]:
    """For a pipeline that starts at `earliest`: its first plan leaves no record unread."""
    for batch in evidence.history.lane("forward", 1)[:1]:
        for row in batch.plan:
            place = evidence.truth.partitions.get(row.place)
            first = min(row.log_start_offset or 0, place.log_start if place else row.start_offset)
            if row.start_offset > first and not _lost_before(evidence, row.place, row.start_offset):
                yield Violation(1, str(row), f"a start at the log start {first}", "a later one")


def _lost_before(evidence: Evidence, place: tuple[str, int], start: int) -> bool:
    losses = evidence.history.losses
    return any(loss.place == place and loss.end_offset == start for loss in losses)


def unique(evidence: Evidence) -> Iterator[Violation]:
    """No record is twice in the data, twice in the live quarantine, or in both."""
    data, quarantine = evidence.rows.keys, evidence.live_quarantine.keys
    both = np.intersect1d(data, quarantine)
    for found, keys in (
        ("more than once in the data", repeated(data)),
        ("more than once in the live quarantine", repeated(quarantine)),
        ("in the data and in the live quarantine", both),
    ):
        for name, offsets in evidence.coordinates.by_partition(keys):
            yield Violation(2, name, "each offset once", f"{found}: {some(offsets)}")


def no_phantom(evidence: Evidence) -> Iterator[Violation]:
    """Nothing is stored that a read_committed client cannot see."""
    stored = np.unique(np.concatenate([evidence.rows.keys, evidence.live_quarantine.keys]))
    strange = stored[~members(stored, evidence.held)]
    aborted = members(strange, evidence.aborted)
    for name, offsets in evidence.coordinates.by_partition(strange[aborted]):
        yield Violation(
            7, name, "nothing of aborted transactions", f"aborted records {some(offsets)}"
        )
    invented = strange[~aborted]
    judged = np.isin(invented, _answerable(evidence, invented))
    for name, offsets in evidence.coordinates.by_partition(invented[judged]):
        yield Violation(
            7, name, "only records that Kafka holds", f"records it never had {some(offsets)}"
        )
    if not judged.all():
        evidence.notes.append(f"{(~judged).sum()} stored records are no longer in Kafka: unjudged")


def _answerable(evidence: Evidence, keys: Keys) -> Keys:
    """Keys of which Kafka still can say that it has no such record."""
    parts = [keys[:0]]
    for (topic_id, partition), place in evidence.truth.partitions.items():
        if not place.compacts:
            start = evidence.coordinates.key(topic_id, partition, place.log_start)
            end = (evidence.coordinates.code(topic_id, partition) + 1) * SPAN
            gone = place.log_start == place.end
            parts.append(keys[(keys >= start) & (keys < end) & (not gone)])
    return np.concatenate(parts)


def caught_up(evidence: Evidence) -> Iterator[Violation]:
    """For a pipeline that has nothing left to do: each cursor stands at the end of its log."""
    cursors = evidence.history.cursors
    for at, place in evidence.truth.partitions.items():
        cursor = cursors.get(at)
        if place.end != (place.log_start if cursor is None else cursor):
            yield Violation(10, str(place), f"a cursor at the LSO {place.end}", str(cursor))
