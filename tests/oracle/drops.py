"""Dropped from quarantine: loss rows that name the batch whose record somebody has forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.oracle.atomicity import quarantine_rows
from tests.oracle.coordinates import Keys, members, some
from tests.oracle.evidence import Evidence
from tests.oracle.offsets_rows import OffsetsRow
from tests.oracle.violation import Violation

Drop = tuple[int, int]
"""Partition and offset, in a world of one topic."""


def forgotten(evidence: Evidence) -> Keys:
    """The dropped records that no batch has read again since, sorted."""
    parts = [evidence.held[:0]]
    labels: list[str | None] = [batch.label for batch in evidence.history.committed]
    for row in (row for row in evidence.history.drops if row.batch in labels):
        keys = _keys(evidence, row)
        parts.append(keys[evidence.newest(keys) == labels.index(row.batch)])
    return np.unique(np.concatenate(parts))


def dropped(evidence: Evidence, asked: frozenset[Drop]) -> Iterator[Violation]:
    """What is dropped was asked for, had been in quarantine, is told once, and is gone."""
    if not asked and not evidence.history.drops:
        return
    told: list[Drop] = []
    aside = quarantine_rows(evidence)
    for row in evidence.history.drops:
        mine = [(row.partition, offset) for offset in range(row.start_offset, row.end_offset)]
        told += mine
        if not (row.reason or "").startswith("dropped from quarantine by "):
            yield Violation(9, str(row), "a reason that says who dropped it", repr(row.reason))
        if row.gap_lost != len(mine):
            yield Violation(9, str(row), f"gap_lost {len(mine)}", str(row.gap_lost))
        keys = _keys(evidence, row)
        strange = keys[~members(keys, aside.get(row.batch or "", keys[:0]))]
        there = evidence.quarantined.keys[
            evidence.quarantined.labels == evidence.label(row.batch or "")
        ]
        for expected, wrong in (
            ("records that were in quarantine", strange),
            ("no row of them any more", keys[np.isin(keys, there)]),
        ):
            for name, offsets in evidence.coordinates.by_partition(wrong):
                yield Violation(9, f"{row}, {name}", expected, some(offsets))
    for partition, offset in sorted(asked.symmetric_difference(told)):
        found = "none" if (partition, offset) in asked else "one that nobody asked for"
        yield Violation(9, f"[{partition}]@{offset}", "a loss row for what is dropped", found)
    names = [(row.batch, row.place, row.start_offset) for row in evidence.history.drops]
    if len(names) != len(set(names)):
        yield Violation(9, "drops", "each told once", f"{len(names) - len(set(names))} repeated")


def _keys(evidence: Evidence, row: OffsetsRow) -> Keys:
    key = evidence.coordinates.key
    return np.arange(key(*row.place, row.start_offset), key(*row.place, row.end_offset))
