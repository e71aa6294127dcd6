"""What the receipts say of each batch and partition: invariants 8 (accounted) and 9 (loud)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from tests.oracle.atomicity import landed_rows, quarantine_rows
from tests.oracle.batches import UNKNOWN_VERSION, Batch
from tests.oracle.coordinates import Keys, members
from tests.oracle.coverage import Coverage
from tests.oracle.evidence import Evidence
from tests.oracle.offsets_rows import OffsetsRow
from tests.oracle.violation import Violation

PLAN_COLUMNS = (
    "mode",
    "start_offset",
    "end_offset",
    "log_start_offset",
    "last_stable_offset",
    "leader_epoch",
    "cluster_id",
)
Skip = tuple[int, int]
"""Partition and offset, in a world of one topic."""
Receipts = dict[tuple[str, tuple[str, int]], list[OffsetsRow]]


def receipts_of(evidence: Evidence) -> Receipts:
    receipts: Receipts = defaultdict(list)
    for row in evidence.history.of_event("committed"):
        receipts[row.batch or "", row.place].append(row)
    return receipts


def receipted(evidence: Evidence, settled: bool) -> Iterator[Violation]:
    """Receipts follow the commit rule: one per committed batch and partition, none for others."""
    history, receipts = evidence.history, receipts_of(evidence)
    labels = {label for label, _ in receipts}
    there = {row.batch for row in history.of_event("committed") if not history.put_back(row)}
    for label in sorted((labels & there) - set(history.landed)):
        yield Violation(8, label, "no receipt, for its txn never landed", "a receipt")
    for batch in history.committed:
        if not settled and batch.label not in labels:
            continue
        for row in batch.plan:
            found = receipts.get((batch.label, row.place), [])
            if len(found) != 1:
                yield Violation(8, str(row), "exactly one receipt", str(len(found)))
            for receipt in found:
                yield from _repeats(row, receipt, history.landed.get(batch.label))
    planned = {(batch.label, row.place) for batch in history.planned.values() for row in batch.plan}
    for label, place in sorted(set(receipts) - planned):
        yield Violation(8, f"{label} {place}", "receipts of planned partitions only", "a receipt")


def _repeats(plan: OffsetsRow, receipt: OffsetsRow, version: int | None) -> Iterator[Violation]:
    for column in PLAN_COLUMNS:
        expected, found = getattr(plan, column), getattr(receipt, column)
        if expected != found:
            yield Violation(8, str(receipt), f"{column} {expected} as planned", str(found))
    if version not in (None, UNKNOWN_VERSION, receipt.data_version):
        yield Violation(8, str(receipt), f"data_version {version}", str(receipt.data_version))


def settled_once(evidence: Evidence, settled: bool) -> Iterator[Violation]:
    """The compare-and-set of settle stands at the last receipt of each lane and generation."""
    for (lane, generation), top in evidence.history.tops.items():
        app = f"{evidence.history.app(lane, generation)}:settled"
        found = evidence.offsets.transactions.get(app, 0)
        if settled and found < top:
            yield Violation(8, f"offsets table, txn {app}", f"at least {top}", str(found))


def append_only(evidence: Evidence) -> Iterator[Violation]:
    for version in evidence.offsets.versions:
        if version.removed and version.rewrites_rows:
            where = f"offsets table version {version.number}"
            yield Violation(8, where, "an append-only history", "rows removed or rewritten")


def accounted(evidence: Evidence) -> Iterator[Violation]:
    """records + quarantined + filtered + gaps == end - start; each is what is really there."""
    receipts = receipts_of(evidence)
    landed, quarantined = landed_rows(evidence), quarantine_rows(evidence)
    superseded = _superseded(evidence.history.committed)
    for batch in evidence.history.committed:
        aside = quarantined.get(batch.label, np.empty(0, np.int64))
        for row in batch.plan:
            for receipt in receipts.get((batch.label, row.place), []):
                yield from _adds_up(receipt)
                yield from _gaps_as_seen(evidence, receipt)
                yield from _filtered_as_seen(evidence, receipt)
                yield from _records_stored(evidence, receipt, landed.get(batch.label))
                if batch.label not in superseded:
                    yield from _records_aside(evidence, receipt, aside)


def _superseded(batches: list[Batch]) -> set[str]:
    """Batches that a later one covers in part: their quarantine rows may be gone by now."""
    later, found = Coverage(), set()
    for batch in reversed(batches):
        if any(later.meets(row) for row in batch.plan):
            found.add(batch.label)
        for row in batch.plan:
            later.add(row.place, row.start_offset, row.end_offset)
    return found


def _adds_up(receipt: OffsetsRow) -> Iterator[Violation]:
    span = receipt.end_offset - receipt.start_offset
    counts = (receipt.records, receipt.quarantined, receipt.filtered, receipt.gaps)
    total = sum(n or 0 for n in counts)
    if total != span:
        expected = f"{span} = records + quarantined + filtered + gaps"
        yield Violation(8, str(receipt), expected, str(total))
    if sum(receipt.gap_kinds.values()) != (receipt.gaps or 0):
        expected = f"{receipt.gaps} gaps by kind"
        yield Violation(8, str(receipt), expected, str(receipt.gap_kinds))


def _count(evidence: Evidence, receipt: OffsetsRow, keys: Keys) -> int:
    key = evidence.coordinates.key
    bounds = key(*receipt.place, receipt.start_offset), key(*receipt.place, receipt.end_offset)
    low, high = np.searchsorted(keys, bounds)
    return int(high - low)


def _records_stored(
    evidence: Evidence, receipt: OffsetsRow, keys: Keys | None
) -> Iterator[Violation]:
    if keys is None:
        return
    expected = _count(evidence, receipt, keys)
    read_since = _count(evidence, receipt, _landed_elsewhere(evidence, keys))
    if not expected <= (receipt.records or 0) <= expected + read_since:
        found = f"records {expected}, and at most {read_since} that others have read since"
        yield Violation(8, str(receipt), found, str(receipt.records))


def _landed_elsewhere(evidence: Evidence, keys: Keys) -> Keys:
    """Records in the table that a batch did not land."""
    stored = np.unique(evidence.rows.keys)
    return stored[~members(stored, np.sort(keys))]


def _records_aside(evidence: Evidence, receipt: OffsetsRow, keys: Keys) -> Iterator[Violation]:
    expected = _count(evidence, receipt, keys)
    if receipt.quarantined != expected:
        yield Violation(8, str(receipt), f"quarantined {expected}", str(receipt.quarantined))


def _gaps_as_seen(evidence: Evidence, receipt: OffsetsRow) -> Iterator[Violation]:
    """Gap kinds against Kafka, where it still holds the whole range and does not compact it."""
    truth = evidence.truth.partitions.get(receipt.place)
    if truth is None or truth.compacts or receipt.start_offset < truth.log_start:
        return
    span = receipt.end_offset - receipt.start_offset
    aborted = _count(evidence, receipt, evidence.aborted)
    control = span - _count(evidence, receipt, evidence.held) - aborted
    expected = dict.fromkeys(receipt.gap_kinds, 0)
    lost = _count(evidence, receipt, evidence.told_lost)
    expected |= {"gap_control": control, "gap_aborted": aborted, "gap_lost": lost}
    if receipt.gap_kinds != expected:
        yield Violation(8, str(receipt), f"gaps {expected}", str(receipt.gap_kinds))


def _filtered_as_seen(evidence: Evidence, receipt: OffsetsRow) -> Iterator[Violation]:
    """The records of other kinds, as Kafka has them."""
    truth = evidence.truth.partitions.get(receipt.place)
    if truth is None or truth.compacts or receipt.start_offset < truth.log_start:
        return
    expected = _count(evidence, receipt, evidence.left_out)
    if expected != (receipt.filtered or 0):
        yield Violation(8, str(receipt), f"filtered {expected}", str(receipt.filtered))


def loud(evidence: Evidence, skipped: frozenset[Skip] = frozenset()) -> Iterator[Violation]:
    """Each loss has one row that is true, and each gap_lost has its loss row.

    `skipped` are the offsets that somebody has asked to skip: they too have a row, which says so.
    """
    losses = evidence.history.losses
    told = {_single(row) for row in losses if (row.reason or "").startswith("skipped by ")}
    for partition, offset in sorted(skipped - told):
        yield Violation(9, f"[{partition}]@{offset}", "a loss row for what is skipped", "none")
    for row in losses:
        size = row.end_offset - row.start_offset
        if row.gap_lost != size or not row.reason:
            expected = f"gap_lost {size} and a reason"
            yield Violation(9, str(row), expected, f"{row.gap_lost}, {row.reason!r}")
        if _single(row) not in skipped & told:
            yield from _really_lost(evidence, row)
    same = Counter((r.lane, r.generation, r.place, r.start_offset) for r in losses)
    for name, count in same.items():
        if count > 1:
            yield Violation(9, str(name), "one loss row for each loss", str(count))
    for receipt in evidence.history.of_event("committed"):
        inside = [row for row in losses if _inside(row, receipt)]
        total = sum(row.gap_lost or 0 for row in inside)
        before = _told_elsewhere(losses, inside, receipt)
        if not total <= (receipt.gap_lost or 0) <= total + before:
            expected = f"loss rows over its gap_lost {receipt.gap_lost}"
            yield Violation(9, str(receipt), expected, f"loss rows over {total}, {before} before")


def _told_elsewhere(losses: list[OffsetsRow], inside: list[OffsetsRow], receipt: OffsetsRow) -> int:
    """Offsets of a receipt that loss rows of other batches tell of, each once."""
    told: set[int] = set()
    for row in losses:
        if row.place == receipt.place and row not in inside and row.batch is None:
            start = max(row.start_offset, receipt.start_offset)
            told.update(range(start, min(row.end_offset, receipt.end_offset)))
    return len(told)


def _single(row: OffsetsRow) -> Skip | None:
    alone = row.end_offset - row.start_offset == 1
    return (row.partition, row.start_offset) if alone else None


def _inside(loss: OffsetsRow, receipt: OffsetsRow) -> bool:
    return (
        (loss.lane, loss.generation, loss.place)
        == (receipt.lane, receipt.generation, receipt.place)
        and receipt.start_offset <= loss.start_offset
        and loss.end_offset <= receipt.end_offset
        and loss.start_offset < loss.end_offset
    )


def _really_lost(evidence: Evidence, row: OffsetsRow) -> Iterator[Violation]:
    truth = evidence.truth.partitions.get(row.place)
    if truth is None:
        return
    offsets = np.setdiff1d(truth.offsets, truth.gone)
    still = (offsets >= max(row.start_offset, truth.log_start)) & (offsets < row.end_offset)
    if still.any():
        yield Violation(9, str(row), "a loss", f"Kafka still holds {int(still.sum())} records")
