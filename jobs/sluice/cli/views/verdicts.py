"""The verdict of a verification, as lines and as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sluice.cli.views.status import state_document
from sluice.offsets.filtered import as_key, told
from sluice.offsets.quantities import format_count

if TYPE_CHECKING:
    from sluice.operations.verify.proof import Uncompared
    from sluice.operations.verify.state_check import StateVerdict
    from sluice.operations.verify.verify import ForeignDeletion, Verdict


def verdict_lines(pipeline: str, verdict: Verdict) -> Iterator[str]:
    """What was compared, what was not, and each invariant."""
    yield (
        f"{pipeline}: {format_count(verdict.batches, 'batch', 'batches')},"
        f" {format_count(verdict.records, 'row')}, {verdict.quarantined:,} quarantined"
        f"{told(verdict.filtered)};"
        f" compared with {format_count(verdict.compared, 'record')} in Kafka"
    )
    yield from _not_compared(pipeline, verdict)
    if verdict.unsettled:
        yield (
            f"without receipt: {', '.join(verdict.unsettled)}. The next run settles what"
            " adds up, and says why if it cannot, as does the log of `settle`."
        )
    if verdict.lost:
        records = format_count(verdict.losses, "loss record")
        yield f"lost: {format_count(verdict.lost, 'offset')} in {records}"
    if verdict.skipped:
        skipped = format_count(verdict.skipped, "offset")
        yield f"skipped: {skipped} by resets; `sluice history` says why"
    yield from map(_deleted, verdict.deleted)
    yield from _invariants(verdict)
    if verdict.state:
        yield f"state table: {verdict.state}"


def _not_compared(pipeline: str, verdict: Verdict) -> Iterator[str]:
    if verdict.unread:
        unread = format_count(verdict.unread, "offset")
        yield f"not read yet, so not compared: {unread}; `sluice run {pipeline}` reads them"
    if verdict.unlisted:
        rows = format_count(verdict.unlisted, "row")
        yield f"not compared: {rows} of batches from before the offsets table was recovered"
    reasons: Counter[tuple[str, str, str]] = Counter()
    for each in verdict.found.uncompared:
        reasons[each.partition.topic, each.topic_id, each.why] += each.rows
    for (topic, topic_id, why), count in reasons.items():
        rows = format_count(count, "row")
        yield f"not compared: {rows} of topic {topic}, id {topic_id}: {why}"
    if verdict.found.below_start:
        rows = format_count(verdict.found.below_start, "row")
        yield f"not compared: {rows} below the log start, where Kafka holds no records any more"
    if verdict.found.compacted_away:
        rows = format_count(verdict.found.compacted_away, "row")
        yield f"not compared: {rows} whose records Kafka has compacted away since they were read"
    if verdict.found.only_here:
        rows = format_count(verdict.found.only_here, "row")
        yield f"held by the table only: {rows}, whose records Kafka has lost since they were read"


def _invariants(verdict: Verdict) -> Iterator[str]:
    from sluice.operations.verify.checks import INVARIANTS

    for invariant, meaning in INVARIANTS.items():
        yield f"  {_state(invariant, verdict):8}{invariant:10}  {meaning}"


def _state(invariant: str, verdict: Verdict) -> str:
    if any(each.invariant == invariant for each in verdict.violations):
        return "FAILED"
    if invariant in verdict.unknown:
        return "partly" if verdict.compared else "unknown"
    return "holds"


def _deleted(deleted: ForeignDeletion) -> str:
    by = f"version {deleted.version}, {deleted.operation}"
    if deleted.rows is None:
        return (
            f"rows deleted by others: {by}: how many, and which, is no longer known: its files"
            " were vacuumed, or its log was cleaned up"
        )
    return f"{format_count(deleted.rows, 'row')} deleted by others: {by}"


def _left_out(rows: Uncompared) -> dict[str, object]:
    return {
        "partition": str(rows.partition),
        "topic_id": rows.topic_id,
        "rows": rows.rows,
        "why": rows.why.value,
    }


def verdict_document(pipeline: str, verdict: Verdict) -> dict[str, object]:
    """The same as JSON values. `exact` says that nothing contradicts; `unknown`, what is open."""
    return {
        "pipeline": pipeline,
        "exact": verdict.is_exact,
        "batches": verdict.batches,
        "records": verdict.records,
        "not_compared": verdict.unlisted,
        "unread": verdict.unread,
        "quarantined": verdict.quarantined,
        **as_key(verdict.filtered),
        "compared": verdict.compared,
        "unsettled": verdict.unsettled,
        "lost": verdict.lost,
        "skipped": verdict.skipped,
        "deleted_by_others": [
            {"version": each.version, "operation": each.operation, "rows": each.rows}
            for each in verdict.deleted
        ],
        "violations": [
            {
                "invariant": each.invariant,
                "partition": str(each.partition),
                "expected": each.expected,
                "found": each.found,
            }
            for each in verdict.violations
        ],
        "not_compared_with_kafka": [_left_out(each) for each in verdict.found.uncompared],
        "below_log_start": verdict.found.below_start,
        "compacted_away": verdict.found.compacted_away,
        "held_by_table_only": verdict.found.only_here,
        "unknown": list(verdict.unknown),
        "advice": [str(each) for each in verdict.advice],
        **({"state": _state_document(verdict.state)} if verdict.state else {}),
    }


def _state_document(found: StateVerdict) -> dict[str, object]:
    return {
        **state_document(found.status),
        "exact": found.is_exact,
        "differing": found.differing,
        "keys": list(found.keys),
        "unordered_keys": found.unordered,
        "deleted_keys": found.deleted,
        "problem": str(found.problem) if found.problem else None,
    }
