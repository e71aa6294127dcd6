"""Run summaries: what the tasks of a run say they did, in one line each; bounded in length.

The step itself is done: what cannot be read of it is unknown, and a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sluice.offsets.batches import Batch, BatchReference
from sluice.offsets.filtered import as_key
from sluice.offsets.lag import offsets_left
from sluice.offsets.quantities import (
    MOST_NAMED,
    cursor_text,
    format_count,
    format_moment,
    named,
)
from sluice.offsets.ranges import TopicPartition, merged, span_of
from sluice.offsets.receipts import Receipt
from sluice.telling import deciding_nothing

if TYPE_CHECKING:
    from sluice.progress.resources import PipelineResources
    from sluice.protocol.refresh.state_news import StateNews
    from sluice.protocol.settle.write_receipts import Settlement

Summary = Mapping[str, Any]
"""`said`, a line for people, and the figures in it."""

log = logging.getLogger(__name__)

# A batch may have 10,000 partitions.
_MOST_READ = 20
_MOST_TOLD = 3
_LONGEST_LINE = 500
_LEFT_OUT = " …\n- … "


def plan_summary(
    work: BatchReference,
    batches: Sequence[Batch],
    cursor: Mapping[TopicPartition, int],
    told: Sequence[str] = (),
) -> Summary:
    """What a run will read; or that there is nothing to read, and where the cursor stands.

    `batches` are the first ones of the work, or all; `told` are further remarks.
    """
    beside = "".join(f"; {each}" for each in told[:MOST_NAMED])[:_LONGEST_LINE]
    if not work:
        return {"said": f"nothing new: {cursor_text(cursor)}{beside}", "batches": 0}
    ranges = merged(each.offsets for batch in batches for each in batch.ranges)
    offsets = span_of(ranges)
    more = len(work.batches) - len(batches)
    rest = f", and {format_count(more, 'more batch', 'more batches')}" if more else ""
    said = f"{work}: {named([str(each) for each in ranges])}: {format_count(offsets, 'offset')}"
    return {"said": said + rest + beside, "batches": len(work.batches), "offsets": offsets}


def _unread_plan_summary(work: BatchReference) -> Summary:
    """What a run is to read, where its plans cannot be looked up."""
    said = f"{work}: the ranges are unknown" if work else "nothing new: the cursor is unknown"
    return {"said": said, "batches": len(work.batches)}


def settle_summary(receipts: Sequence[Receipt], lag: int | None, until: datetime | None) -> Summary:
    """What was settled, how many records are left to read, and until when the table is complete.

    A lag or a moment of None is unknown.
    """
    left = f"lag left {'unknown' if lag is None else f'{lag:,}'}"
    left += f"; complete until {format_moment(until)} UTC" if until else ""
    progress = {"lag": lag, "complete_until": until.isoformat() if until else None}
    if not receipts:
        return {"said": f"nothing to settle; {left}", "batches": 0, **progress}
    counts = {
        "records": sum(each.records for each in receipts),
        "quarantined": sum(each.quarantined for each in receipts),
        **as_key(sum(each.filtered for each in receipts)),
        "gaps": sum(each.gaps for each in receipts),
        "lost": sum(each.lost for each in receipts),
    }
    shown = [format_count(counts["records"], "record")]
    named_counts = ("quarantined", "filtered", "gaps")
    shown += [f"{counts[each]:,} {each}" for each in named_counts if each in counts]
    shown += [f"{counts['lost']:,} of them lost"] if counts["lost"] else []
    settled = named([str(each.batch) for each in receipts])
    said = f"{settled}: {', '.join([*shown, left])}"
    return {"said": said, "batches": len(receipts), **counts, **progress}


def ingest_summary(landed: BatchReference, left: BatchReference) -> Summary:
    """What a task is done with, and what is left to the next one."""
    said = f"done: {landed}" if landed else "nothing was left to commit; Spark was not needed"
    return {"said": f"{said}; {left} comes after fresh data" if left else said}


def refresh_summary(stands_at: int | None, news: StateNews | None) -> Summary:
    """Where the state table stands, and what has changed in it since the last event."""
    if news is None:
        said = "not made yet"
        if stands_at is not None:
            said = f"stands at version {stands_at} of the data table: nothing new"
        return {"said": f"state: {said}", "data_version": stands_at}
    return {"said": f"state: {news}", **news.as_dict()}


def brief_summary(told: Sequence[str], end: str = "") -> Summary:
    """The first lines of what a task has logged, and how that ended."""
    shown = [*told[:_MOST_TOLD], *(["… (all in its log)"] if told[_MOST_TOLD:] else [])]
    return {"said": "; ".join(filter(None, ["; ".join(shown)[:_LONGEST_LINE], end]))}


def failure_summary(error: Exception) -> Summary:
    """That a task failed, and why: the first line of its error, and the last: the next move."""
    lines = [each.strip() for each in str(error).splitlines() if each.strip()]
    ends = [each[:_LONGEST_LINE] for each in (*lines[:1], *lines[1:][-1:])]
    return {"said": f"failed: {type(error).__name__}: {' … '.join(ends)}"}


def run_note(said: Mapping[str, str], longest: int, before: str = "") -> str:
    """What a run's tasks said, a line each, as a list in Markdown, in at most so many characters.

    A note of `before` stays: a run that was cleared adds what it says otherwise now. If it gets too
    long, its middle goes.
    """
    lines = before.splitlines()
    for task, line in said.items():
        first, again = f"- {task}: ", f"- {task}, again: "
        last = next((each for each in reversed(lines) if each.startswith((first, again))), None)
        if last not in (f"{first}{line}", f"{again}{line}"):
            lines.append(f"{first if last is None else again}{line}")
    text = "\n".join(lines)
    if len(text) <= longest:
        return text
    half = (longest - len(_LEFT_OUT)) // 2
    return f"{text[:half]}{_LEFT_OUT}{text[-half:]}"


def summarize_plan(resources: PipelineResources, work: BatchReference) -> Summary:
    """What the run is to read, by the plans in the offsets table."""
    from sluice.progress.lane_state import read_unchecked
    from sluice.protocol.plan.table_fit import told_of_table

    with deciding_nothing(log, "%s: the plan's ranges are unknown", resources.spec.pipeline):
        read = work.first(_MOST_READ).batches
        lane = read_unchecked(resources, work.sequence.lane)
        batches = lane.snapshot.batches(work.sequence, read[0], last=read[-1]) if read else ()
        told = told_of_table(resources.kept_spec, lane.data)
        return plan_summary(work, batches, lane.positions, told)
    return _unread_plan_summary(work)


def summarize_settlement(resources: PipelineResources, settled: Settlement) -> Summary:
    """What was settled, and what is left to read; unknown where Kafka does not say it."""
    from sluice.operations.until_complete import proven_until
    from sluice.progress.lane_state import read_unchecked

    lag, until = None, None
    with deciding_nothing(log, "%s: the lag is unknown", resources.spec.pipeline):
        state = resources.kafka.state(resources.spec)
        lane = read_unchecked(resources)
        lag = offsets_left(lane.positions, state.logs)
        until = proven_until(resources, lane, state)
    return settle_summary(settled.receipts, lag, until)


def summarize_refresh(resources: PipelineResources, news: StateNews | None) -> Summary:
    """Where the state table stands, by its own log."""
    return refresh_summary(resources.state.snapshot().stands_at, news)
