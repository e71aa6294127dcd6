"""A little world without the product: the three tables, written by hand from real Kafka records.

A world is a list of steps, one per commit; a test edits the steps to plant a fault, then writes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from tests.oracle.batches import FENCE
from tests.oracle.kafka_truth import KafkaTruth, PartitionTruth
from tests.oracle.offsets_rows import COLUMNS
from tests.oracle.world_schemas import SCHEMAS

Row = dict[str, Any]
Ranges = dict[int, tuple[int, int]]
# Stands for the id of the data table, which it gets when it is written.
HERE = "here"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decode(value: bytes) -> Row | None:
    """The whole schema of the little world: an object with an integer `id` and a text `name`."""
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return {"id": found["id"], "name": found["name"]} if isinstance(found, dict) else None


@dataclass
class Step:
    """One commit. `replaces` is the predicate of the rows that it takes away."""

    table: str
    rows: list[Row]
    transactions: dict[str, int] = field(default_factory=dict)
    replaces: str | None = None
    metadata: str | None = None


@dataclass
class World:
    truth: KafkaTruth
    pipeline: str = "world"
    table: str = "world"
    raw: bool = False
    steps: list[Step] = field(default_factory=list)
    data_version: int = -1
    clock: datetime = field(default_factory=lambda: datetime.now(UTC))

    def app(self, lane: str, generation: int) -> str:
        return f"sluice:{self.pipeline}:{lane}:{generation}"

    def start_anew(self) -> None:
        self.steps, self.data_version = [], -1

    def of(self, table: str) -> list[Step]:
        return [step for step in self.steps if step.table == table]

    def batch(self, label: str, ranges: Ranges, mode: str = "append") -> None:
        """Plan, quarantine, data and receipt of one batch, as a correct product leaves them."""
        plan = self.plan(label, ranges, mode)
        self.land(plan)
        self.settle(plan)

    def plan(self, label: str, ranges: Ranges, mode: str = "append") -> list[Row]:
        lane, generation, number = label.rsplit("-", 2)
        rows = [
            self._offsets_row(
                self._place(partition),
                lane=lane,
                generation=int(generation),
                batch_id=int(number),
                batch=label,
                event="planned",
                mode=mode,
                start_offset=start,
                end_offset=end,
            )
            for partition, (start, end) in ranges.items()
        ]
        self.steps.append(Step("offsets", rows, {self.app(lane, int(generation)): int(number)}))
        return rows

    def land(self, plan: list[Row]) -> None:
        aside, data = [], []
        for row in plan:
            for record in _records(self._place(row["partition"]), row):
                value = record.pop("value")
                fields = self._fields(value)
                if fields is None:
                    error = {"error": "not JSON", "quarantined_at": self._now()}
                    aside.append({**record, "value": value, **error})
                else:
                    data.append({**fields, **record, "_tombstone": value is None})
        first = plan[0]
        predicate = _predicate(plan) if first["mode"] == "replace" else None
        if aside:
            self.steps.append(Step("quarantine", aside))
        txn = {self.app(first["lane"], first["generation"]): first["batch_id"]}
        ranges = [[r["partition"], r["start_offset"], r["end_offset"]] for r in plan]
        self.steps.append(Step("data", data, txn, predicate, json.dumps(ranges)))
        self.data_version += 1

    def settle(self, plan: list[Row]) -> None:
        txn = f"{self.app(plan[0]['lane'], plan[0]['generation'])}:settled"
        rows = [{**row, **self._counts(row), "event": "committed"} for row in plan]
        for row in rows:
            row["recorded_at"] = self._now()
            row["data_version"] = self.data_version
            row["data_table_id"] = HERE
        self.steps.append(Step("offsets", rows, {txn: plan[0]["batch_id"]}))

    def lose(self, partition: int, start: int, end: int, lane: str = "forward") -> None:
        row = self._offsets_row(
            self._place(partition),
            lane=lane,
            generation=1,
            event="loss",
            start_offset=start,
            end_offset=end,
            gap_lost=end - start,
            reason="retention",
        )
        self.steps.append(Step("offsets", [row]))

    def reset(self, generation: int, closed_at: int, cursors: dict[int, tuple[int, int]]) -> None:
        """Intention, fence and completion; opens the generation."""
        rows = [
            self._offsets_row(
                self._place(partition),
                lane=lane,
                generation=generation,
                event="reset_intended",
                closed_at=closed_at if lane == "forward" else 0,
                cursor_before=before if lane == "forward" else None,
                cursor_after=after if lane == "forward" else None,
            )
            for partition, (before, after) in cursors.items()
            for lane in ("forward", "backfill")
        ]
        self.steps.append(Step("offsets", rows))
        lanes = ("forward", "backfill")
        self.steps.append(
            Step("data", [], {self.app(lane, generation - 1): FENCE for lane in lanes})
        )
        self.data_version += 1
        done = [{**row, "event": "reset_done", "recorded_at": self._now()} for row in rows]
        self.steps.append(Step("offsets", done))

    def write(self, warehouse: Path) -> None:
        folders = {
            "data": warehouse / self.table,
            "quarantine": warehouse / f"{self.table}__quarantine",
            "offsets": warehouse / f"{self.table}__offsets",
        }
        for step in self.steps:
            named = "raw" if self.raw and step.table == "data" else step.table
            _commit(folders[step.table], _naming(step, folders["data"]), SCHEMAS[named])

    def _fields(self, value: bytes | None) -> Row | None:
        if self.raw:
            return {"value": value}
        return {"id": None, "name": None} if value is None else decode(value)

    def _place(self, partition: int) -> PartitionTruth:
        return next(p for (_, n), p in self.truth.partitions.items() if n == partition)

    def _now(self) -> datetime:
        self.clock += timedelta(microseconds=1)
        return self.clock

    def _offsets_row(self, place: PartitionTruth, **values: Any) -> Row:
        return dict.fromkeys(COLUMNS) | {
            "format_version": 2,
            "pipeline": self.pipeline,
            "topic": place.topic,
            "topic_id": place.topic_id,
            "partition": place.partition,
            "log_start_offset": place.log_start,
            "last_stable_offset": place.end,
            "recorded_at": self._now(),
            **values,
        }

    def _counts(self, row: Row) -> Row:
        place, start, end = self._place(row["partition"]), row["start_offset"], row["end_offset"]
        values = [record["value"] for record in _records(place, row)]
        bad = sum(self._fields(value) is None for value in values)
        aborted = int(np.sum((place.aborted >= start) & (place.aborted < end)))
        lost = max(0, min(end, place.log_start) - start)
        gaps = end - start - len(values)
        kinds = {"gap_aborted": aborted, "gap_compacted": 0, "gap_lost": lost}
        control = {"gap_control": gaps - aborted - lost}
        return {"records": len(values) - bad, "quarantined": bad, "gaps": gaps} | kinds | control


def _records(place: PartitionTruth, row: Row) -> list[Row]:
    inside = (place.offsets >= row["start_offset"]) & (place.offsets < row["end_offset"])
    return [
        {
            "_topic": place.topic,
            "_topic_id": place.topic_id,
            "_partition": place.partition,
            "_offset": record["offset"],
            "_timestamp": EPOCH + timedelta(milliseconds=record["timestamp"]),
            "_key": record["key"],
            "_headers": record["headers"],
            "_batch": row["batch"],
            "value": record["value"],
        }
        for record in place.records.filter(pa.array(inside)).to_pylist()
    ]


def _predicate(plan: list[Row]) -> str:
    parts = "(_partition = {partition} AND _offset >= {start_offset} AND _offset < {end_offset})"
    return " OR ".join(parts.format(**row) for row in plan)


def _naming(step: Step, data: Path) -> Step:
    """The step with the data table's id where a row stands for it."""
    if not any(row.get("data_table_id") == HERE for row in step.rows):
        return step
    there = DeltaTable.is_deltatable(str(data))
    ids = {HERE: DeltaTable(data).metadata().id if there else None}
    rows = [
        row | {"data_table_id": ids.get(row["data_table_id"], row["data_table_id"])}
        for row in step.rows
    ]
    return replace(step, rows=rows)


def _commit(folder: Path, step: Step, schema: pa.Schema) -> None:
    properties = CommitProperties(
        app_transactions=[Transaction(app, n) for app, n in step.transactions.items()],
        custom_metadata={"userMetadata": step.metadata} if step.metadata else None,
    )
    table = pa.Table.from_pylist(step.rows, schema)
    if not step.rows and not step.replaces and DeltaTable.is_deltatable(str(folder)):
        there = DeltaTable(folder)
        there.create_write_transaction([], "append", there.schema(), commit_properties=properties)
        return
    how: dict[str, Any] = {"mode": "append"}
    if step.replaces:
        how = {"mode": "overwrite", "predicate": step.replaces}
    write_deltalake(folder, table, **how, commit_properties=properties)
