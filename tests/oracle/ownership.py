"""Which batch a stored row belongs to, seen from the newest version: the rest of invariant 4."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracle.atomicity import change
from tests.oracle.coordinates import members, some
from tests.oracle.evidence import Evidence, Rows
from tests.oracle.violation import Violation


def owned(evidence: Evidence) -> Iterator[Violation]:
    """Each row was written by the newest committed batch that read its offset."""
    order = np.argsort(evidence.rows.keys, kind="stable")
    rows = Rows(evidence.rows.keys[order], evidence.rows.labels[order])
    ranks, newest = evidence.ranks(rows.labels), evidence.newest(rows.keys)
    held = members(rows.keys, evidence.held)
    yield from _uncommitted(evidence, rows, ranks)
    # What Kafka no longer holds could not be read again, so it keeps its older batch.
    wrong = (ranks >= 0) & (ranks != newest) & (held | ~_within_own(evidence, rows, ranks))
    for name, offsets in evidence.coordinates.by_partition(rows.keys[wrong]):
        expected = "the newest committed batch over each row as its _batch"
        yield Violation(4, name, expected, f"another one in rows {some(offsets)}")


def _uncommitted(evidence: Evidence, rows: Rows, ranks: np.ndarray) -> Iterator[Violation]:
    for label in np.unique(rows.labels[ranks < 0]).tolist():
        count = int((rows.labels == label).sum())
        found = f"{count} rows of {evidence.label_name(label)!r}"
        yield Violation(4, "data", "rows of committed batches only", found)


def _within_own(evidence: Evidence, rows: Rows, ranks: np.ndarray) -> np.ndarray:
    inside = np.zeros(len(rows), bool)
    for rank in np.unique(ranks[ranks >= 0]).tolist():
        mine = ranks == rank
        inside[mine] = evidence.within(evidence.history.committed[rank], rows.keys[mine])
    return inside


def quarantine_owned(evidence: Evidence) -> Iterator[Violation]:
    """Also a dead quarantine row names a planned batch, and lies in its ranges."""
    rows = evidence.quarantined
    for label in np.unique(rows.labels).tolist():
        name = evidence.label_name(label)
        batch = evidence.history.planned.get(name)
        if batch is None:
            yield Violation(4, "quarantine", "rows of planned batches only", f"rows of {name!r}")
            continue
        keys = rows.keys[rows.labels == label]
        outside = keys[~evidence.within(batch, keys)]
        for where, offsets in evidence.coordinates.by_partition(outside):
            yield Violation(4, f"quarantine, {where}", f"rows in {name}", some(offsets))


def in_step(evidence: Evidence) -> Iterator[Violation]:
    """A batch's quarantine rows are durable before its data commit; by the commits' clocks."""
    clock = {version.number: version.timestamp for version in evidence.data.versions}
    first: dict[str, int] = {}
    for version in evidence.quarantine.versions:
        rows = change(evidence, evidence.quarantine, version)
        for label in np.unique(rows[0].labels).tolist() if rows else []:
            first.setdefault(evidence.label_name(label), version.timestamp)
    for name, quarantined_at in first.items():
        committed_at = clock.get(evidence.history.landed.get(name, -1))
        if committed_at and quarantined_at > committed_at:
            late = f"quarantined {quarantined_at - committed_at} ms after it"
            yield Violation(4, name, "its quarantine before its data commit", late)
