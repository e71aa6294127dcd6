"""Quarantined: the rows of the quarantine table, and which of them count. Kafka is not asked.

A row counts until a later batch has a row of the same offset, or had one that was dropped. So a
batch over offsets that Kafka no longer held takes nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sluice.pipeline.committed import (
    Committed,
    Reach,
    drops_of,
    reaches,
    read_committed,
    reads_of,
)
from sluice.pipeline.parts import Parts
from sluice.pipeline.stored import Place, Stored, stored
from sluice.planning.aside import Aside, State
from sluice.planning.batches import parse_batch
from sluice.planning.history import History
from sluice.planning.ranges import TopicPartition
from sluice.proof.evidence import NO_ROWS, Evidence
from sluice.tables.data_log import COORDINATES
from sluice.tables.offsets_table import OffsetsSnapshot
from sluice.tables.table_rows import read_rows

_COLUMNS = [*COORDINATES.names, "_topic", "error", "quarantined_at"]
_ORDER = [(name, "ascending") for name in COORDINATES.names]


@dataclass(frozen=True)
class Quarantined:
    """All rows, in the order of their coordinates, as of one version of the offsets table."""

    snapshot: OffsetsSnapshot
    history: History
    rows: tuple[Aside, ...]

    def of(self, *states: State) -> list[Aside]:
        """Those in one of the states."""
        return [each for each in self.rows if each.state in states]


def read_quarantined(parts: Parts) -> Quarantined:
    """Read the rows and tell which of them count. Takes no JVM."""
    # What lands from here on is not seen: its rows count as waiting, and stay.
    version = parts.data.version()
    snapshot, history, _ = parts.progress(parts.offsets.snapshot)
    if not parts.quarantine.exists():
        return Quarantined(snapshot, history, ())
    newest = history.sequence.generation
    committed = read_committed(parts, snapshot, newest, version)
    lines = read_rows(parts.tables.quarantine(parts.spec.table), _COLUMNS).sort_by(_ORDER)
    evidence = _with_newer_rows(parts, _evidence(committed, stored(lines)))
    # Sorted by place before, so that the places come in the order of the rows.
    marks = [mark for each in evidence.values() for mark in _marks(each)]
    ends = reaches(parts, newest)
    return Quarantined(
        snapshot,
        history,
        tuple(_row(line, *mark, ends) for line, mark in zip(lines.to_pylist(), marks, strict=True)),
    )


def _evidence(committed: Committed, aside: Stored) -> dict[Place, Evidence]:
    """What is known of the places that have rows, but for the data table's."""
    found = {}
    for place in aside.places:
        reads = list(reads_of(committed, place))
        found[place] = Evidence(
            # Rows name the topic; of a place without reads nothing is asked.
            partition=reads[0].offsets.partition if reads else TopicPartition("", place.partition),
            reads=reads,
            openings={},
            lost=(),
            readable=(),
            visible=NO_ROWS.offsets,
            data=NO_ROWS,
            quarantined=aside.rows(place, reads),
            deleted={},
            compacts=False,
            dropped=drops_of(committed, place),
        )
    return found


def _with_newer_rows(parts: Parts, known: Mapping[Place, Evidence]) -> Mapping[Place, Evidence]:
    """The same with the rows of the data table that later batches over the offsets have."""
    again: set[int] = set()
    for each in known.values():
        rows = each.quarantined
        later = (rows.reads >= 0) & (each.newest_read(rows.offsets) > rows.reads)
        again.update(rows.offsets[later].tolist())
    if not again:
        return known
    data = stored(read_rows(parts.tables.data(parts.spec.table), COORDINATES.names, again))
    return {
        place: replace(each, data=data.rows(place, each.reads)) for place, each in known.items()
    }


Mark = tuple[State, int | None]


def _marks(evidence: Evidence) -> Iterator[Mark]:
    """For each row its state, and the version of the data table that superseded it."""
    rows = evidence.quarantined
    newest = evidence.newest_row(rows.offsets)
    masks = (rows.reads >= 0, evidence.forgotten, evidence.superseded)
    for committed, forgotten, superseded, by in zip(*masks, newest, strict=True):
        if not committed:
            yield State.WAITING, None
        elif forgotten:
            yield State.DROPPED, None
        elif superseded:
            yield State.SUPERSEDED, evidence.reads[by].version
        else:
            yield State.LIVE, None


def _row(
    line: Mapping[str, Any], state: State, superseded_in: int | None, ends: Sequence[Reach]
) -> Aside:
    if state is State.WAITING and _undone(line["_batch"], ends):
        state = State.UNDONE
    return Aside(
        partition=TopicPartition(line["_topic"], line["_partition"]),
        offset=line["_offset"],
        topic_id=line["_topic_id"],
        batch=line["_batch"],
        error=line["error"],
        quarantined_at=line["quarantined_at"],
        state=state,
        superseded_in=superseded_in,
    )


def _undone(batch: str, ends: Sequence[Reach]) -> bool:
    """Whether the batch can never be committed any more: its sequence was closed below it."""
    try:
        sequence, number = parse_batch(ends[0].sequence.pipeline, batch)
    except ValueError:
        return False
    return any(each.closed and each.sequence == sequence and number > each.last for each in ends)


@dataclass(frozen=True)
class Record:
    """A quarantined record as it came."""

    row: Aside
    timestamp: datetime
    key: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    value: bytes | None


def read_records(parts: Parts, rows: Sequence[Aside]) -> list[Record]:
    """The records of some rows, in the same order; without those that are gone by now."""
    if not rows:
        return []
    columns = [*COORDINATES.names, "_timestamp", "_key", "_headers", "value"]
    uri = parts.tables.quarantine(parts.spec.table)
    found = {
        tuple(line[name] for name in COORDINATES.names): line
        for line in read_rows(uri, columns, {row.offset for row in rows}).to_pylist()
    }
    return [
        Record(
            row,
            line["_timestamp"],
            line["_key"],
            tuple((each["key"], each["value"]) for each in line["_headers"] or ()),
            line["value"],
        )
        for row in rows
        if (line := found.get((row.topic_id, row.partition.partition, row.offset, row.batch)))
    ]
