"""Rows of resets in the offsets table: one per event, lane and partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sluice.offsets.batches import BatchSequence, PlannedRange
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.resets import LANES, CursorMove, Reset, Resets
from sluice.tables.offsets_rows import Row, log_columns, loss_row, sequence_columns

INTENDED, DONE = "reset_intended", "reset_done"


def reset_rows(reset: Reset, origin: Origin, losses: Iterable[Loss] = ()) -> Iterator[Row]:
    """The event of the reset, and of earlier ones with it, for every partition and lane.

    And event `loss` for what it leaves behind.
    """
    for each in (*reset.earlier, reset):
        yield from _rows_of(replace(each, done=reset.done), origin)
    sequence = replace(reset.closes[0], generation=reset.generation)
    for loss in losses:
        yield loss_row(sequence, reset.cluster_id, loss) | origin.columns()


def _rows_of(reset: Reset, origin: Origin) -> Iterator[Row]:
    """Cursors are on the forward rows."""
    for lane in LANES:
        sequence = BatchSequence(reset.pipeline, lane, reset.generation)
        for moved in reset.cursor:
            row = {
                **sequence_columns(sequence, DONE if reset.done else INTENDED),
                **log_columns(moved.after),
                **origin.columns(),
                "topic": moved.partition.topic,
                "partition": moved.partition.partition,
                "closed_at": reset.closed_at[lane],
                "data_version": reset.data_version,
                "cluster_id": reset.cluster_id,
                "data_table_id": reset.data_table_id,
                "reason": reset.reason,
            }
            if lane == "forward":
                row |= {"cursor_before": moved.before, "cursor_after": moved.after.offsets.start}
            yield row


def read_resets(pipeline: str, rows: Iterable[Mapping[str, Any]]) -> Resets:
    """Rebuild resets from rows: one reset has one event and time; a done one outranks others, and
    one done later those before it, which a RESTORE has made untrue.

    Rows of several generations at one time were written together: the newest has the others with it
    as `earlier`, until it is done.
    """

    def rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return row["generation"], row["event"] == DONE, row["recorded_at"]

    found: dict[int, Reset] = {}
    intended: dict[Any, list[Reset]] = {}
    for (generation, done, at), lines in groupby(sorted(rows, key=rank), key=rank):
        read = _read_reset(pipeline, generation, done, list(lines))
        if not done:
            read = replace(read, earlier=tuple(intended.get(at, ())))
            intended.setdefault(at, []).append(read)
        asked = found.get(generation) if done else None
        # Another process may finish a reset and record it as done; the origin is who requested it.
        found[generation] = replace(read, recorded=asked.recorded) if asked else read
    return Resets(found)


def _read_reset(
    pipeline: str, generation: int, done: bool, rows: Sequence[Mapping[str, Any]]
) -> Reset:
    first = rows[0]
    forward = sorted(
        (row for row in rows if row["lane"] == "forward"),
        key=lambda row: (row["topic"], row["partition"]),
    )
    return Reset(
        pipeline=pipeline,
        generation=generation,
        closed_at={row["lane"]: row["closed_at"] for row in rows},
        cursor=tuple(_read_moved(row) for row in forward),
        cluster_id=first["cluster_id"],
        data_version=first["data_version"],
        reason=first["reason"],
        data_table_id=first["data_table_id"],
        done=done,
        recorded=Origin.of(first),
    )


def _read_moved(row: Mapping[str, Any]) -> CursorMove:
    partition, after = TopicPartition(row["topic"], row["partition"]), row["cursor_after"]
    planned = PlannedRange(
        offsets=OffsetRange(partition, after, after),
        topic_id=row["topic_id"],
        log_start_offset=row["log_start_offset"],
        last_stable_offset=row["last_stable_offset"],
        leader_epoch=row["leader_epoch"],
    )
    return CursorMove(planned, row["cursor_before"])
