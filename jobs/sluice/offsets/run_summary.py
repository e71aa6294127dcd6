"""Run summaries: what the tasks of a run say they did, in one line each; bounded in length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from sluice.offsets.batches import Batch, BatchReference
from sluice.offsets.lag import unread_from
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of
from sluice.offsets.receipts import Receipt

Summary = Mapping[str, Any]
"""`said`, a line for people, and the figures in it."""

# What a summary names one by one, of partitions that may be 10,000.
MOST_NAMED = 10
_LONGEST_LINE = 500


def plan_summary(
    work: BatchReference,
    batches: Sequence[Batch],
    cursor: Mapping[TopicPartition, int],
    told: Sequence[str] = (),
) -> Summary:
    """What a run is to read, or that there is nothing and where the cursor stands.

    `batches` are the first ones of the work, or all; `told` is what else there is to say.
    """
    beside = "".join(f"; {each}" for each in told[:MOST_NAMED])[:_LONGEST_LINE]
    if not work:
        return {"said": f"nothing new: {cursor_text(cursor)}{beside}", "batches": 0}
    ranges = joined(each.offsets for batch in batches for each in batch.ranges)
    offsets = span_of(ranges)
    more = len(work.batches) - len(batches)
    rest = f", and {format_count(more, 'more batch', 'more batches')}" if more else ""
    said = f"{work}: {_named([str(each) for each in ranges])}: {format_count(offsets, 'offset')}"
    return {"said": said + rest + beside, "batches": len(work.batches), "offsets": offsets}


def unread_plan_summary(work: BatchReference) -> Summary:
    """What a run is to read, where its plans cannot be looked up."""
    said = f"{work}: the ranges are unknown" if work else "nothing new: the cursor is unknown"
    return {"said": said, "batches": len(work.batches)}


def settle_summary(receipts: Sequence[Receipt], lag: int | None) -> Summary:
    """What was settled, and how many records are left to read; a lag of None is unknown."""
    left = f"lag left {'unknown' if lag is None else f'{lag:,}'}"
    if not receipts:
        return {"said": f"nothing to settle; {left}", "batches": 0, "lag": lag}
    counts = {
        "records": sum(each.records for each in receipts),
        "quarantined": sum(each.quarantined for each in receipts),
        "gaps": sum(each.gaps for each in receipts),
        "lost": sum(each.lost for each in receipts),
    }
    shown = [format_count(counts["records"], "record")]
    shown += [f"{counts[each]:,} {each}" for each in ("quarantined", "gaps")]
    shown += [f"{counts['lost']:,} of them lost"] if counts["lost"] else []
    settled = _named([str(each.batch) for each in receipts])
    said = f"{settled}: {', '.join([*shown, left])}"
    return {"said": said, "batches": len(receipts), **counts, "lag": lag}


def ingest_summary(landed: BatchReference, left: BatchReference) -> Summary:
    """What a task is done with, and what is left to the next one."""
    said = f"done: {landed}" if landed else "nothing was left to commit; Spark was not needed"
    return {"said": f"{said}; {left} comes after fresh data" if left else said}


def failure_summary(error: Exception) -> Summary:
    """That a task failed, and why: the first line of its error, and the last: the next move."""
    lines = [each.strip() for each in str(error).splitlines() if each.strip()]
    ends = [each[:_LONGEST_LINE] for each in (*lines[:1], *lines[1:][-1:])]
    return {"said": f"failed: {type(error).__name__}: {' … '.join(ends)}"}


def cursor_text(cursor: Mapping[TopicPartition, int]) -> str:
    """Write `cursor at flights[0]@120, flights[1]@80`; of very many partitions, the first ones."""
    if not cursor:
        return "no cursor yet"
    return f"cursor at {_named([f'{each}@{offset}' for each, offset in sorted(cursor.items())])}"


def lag_left(
    cursor: Mapping[TopicPartition, int], logs: Mapping[TopicPartition, PartitionLog]
) -> int:
    """Offsets between the cursor and the LSO; a partition without a cursor is not read yet."""
    unread = unread_from(cursor, logs)
    return sum(logs[each].last_stable_offset - start for each, start in unread.items())


def run_note(said: Mapping[str, str], longest: int) -> str:
    """The lines of a run's tasks as one text, cut to so many characters."""
    text = "\n".join(f"{task}: {line}" for task, line in said.items())
    return text if len(text) <= longest else f"{text[: longest - 2]} …"


def joined(ranges: Iterable[OffsetRange]) -> list[OffsetRange]:
    """The non-empty ranges in order, those that touch each other as one."""
    found: list[OffsetRange] = []
    for each in sorted(each for each in ranges if each.span):
        if found and each.follows(found[-1]):
            found[-1] = OffsetRange(each.partition, found[-1].start, each.end)
        else:
            found.append(each)
    return found


def _named(words: Sequence[str]) -> str:
    named = ", ".join(islice(words, MOST_NAMED)) or "no offsets"
    more = len(words) - MOST_NAMED
    return f"{named}, … and {more:,} more" if more > 0 else named
