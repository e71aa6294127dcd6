"""What the tables say of a state: the commits that claim one, and the rows at a version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.oracle.delta_log import TableLog, Version, read_log
from tests.oracle.offsets_rows import read_rows
from tests.oracle.state import Row
from tests.oracle.table_files import arrow_type, read_live
from tests.oracle.topic_ids import TopicIds
from tests.oracle.violation import Unjudgeable


class Gone(Unjudgeable):
    """A version was there, and clean-up took a part of it."""


@dataclass(frozen=True)
class Claim:
    """A commit of the state table that says: this is the state at a version of the data table."""

    number: int
    data_version: int
    told: Any
    rebuilds: bool

    def __str__(self) -> str:
        return f"state version {self.number} (data version {self.data_version})"

    def names(self, table_id: str | None) -> bool:
        """Whether it is of the data table with this id."""
        return isinstance(self.told, dict) and self.told.get("data_table_id") == table_id


@dataclass(frozen=True)
class Snapshot:
    """The rows of a table at a version, and the types of its columns."""

    types: dict[str, pa.DataType]
    rows: list[Row]
    table_id: str | None


def claims(log: TableLog, pipeline: str) -> list[Claim]:
    """Oldest first."""
    app = f"sluice:{pipeline}:state"
    return [
        Claim(version.number, version.transactions[app], _told(version), _rebuilds(log, version))
        for version in log.versions
        if app in version.transactions
    ]


def topic_ids(warehouse: Path, table: str, pipeline: str) -> TopicIds:
    """In the order that plans name them.

    Within a generation the forward lane sees an id before a backfill can re-read it.
    """
    rows = read_rows(read_log(warehouse / f"{table}__offsets"), pipeline)
    plans = [row for row in rows if row.event == "planned" and row.batch_id is not None]
    plans.sort(key=lambda row: (row.generation, row.lane != "forward", row.batch_id))
    return TopicIds.named_by(
        (e.generation, e.topic, e.partition, e.topic_id, e.end_offset, e.last_stable_offset or 0)
        for e in plans
    )


def snapshot(root: Path, number: int) -> Snapshot:
    """A version of a table. Moments and days come as numbers: not all are Python's.

    Raises Gone if clean-up took one of its files; Unjudgeable without a table.
    """
    log = read_log(root, number, vectors=True)
    if not log.exists:
        raise Unjudgeable(f"{root}: no table")
    types = {name: arrow_type(kind) for name, kind in log.schema.items()}
    try:
        table = read_live(log, types)
    except FileNotFoundError as gone:
        raise Gone(f"{root}: version {number} lacks the file {gone}") from gone
    numbers = pa.schema([(name, _number_type(kind)) for name, kind in types.items()])
    return Snapshot(types, table.cast(numbers).to_pylist(), log.table_id)


def _number_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_date32(kind):
        return pa.int32()
    if pa.types.is_list(kind):
        return pa.list_(_number_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_number_type(kind.key_type), _number_type(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _number_type(field.type)) for field in kind])
    return kind


def _told(version: Version) -> Any:
    """What the commit's `userMetadata` says; None unless it is JSON."""
    try:
        return json.loads(version.info.get("userMetadata") or "")
    except ValueError:
        return None


def _rebuilds(log: TableLog, version: Version) -> bool:
    """Whether it made the table anew: it kept no file of the version before it."""
    kept = log.live_at(version.number - 1) - set(version.removed)
    return not kept and version.info.get("operation") != "MERGE"
