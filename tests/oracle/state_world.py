"""A little world with a state table, written by hand: the log, its plans, and what states it had.

A test edits the claims to plant a fault, then writes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from tests.oracle.offsets_rows import COLUMNS
from tests.oracle.state import Row, StateRules
from tests.oracle.state_verdict import COUNTS, judge_state
from tests.oracle.world_schemas import RECORD, SCHEMAS

BY_KEY = StateRules(("_key_id",))
T0 = datetime(2026, 1, 1, tzinfo=UTC)
FIELDS = pa.schema(
    [
        ("_key_id", pa.int64()),
        ("name", pa.string()),
        ("price", pa.float64()),
        ("photo", pa.binary()),
        ("tags", pa.list_(pa.string())),
        ("seen", pa.list_(pa.struct([("at", pa.timestamp("us", "UTC")), ("by", pa.string())]))),
        ("_op", pa.string()),
    ]
)
DATA = pa.schema([*FIELDS, *RECORD, ("_tombstone", pa.bool_())])
LEFT = [each for each in DATA if each.name not in ("_batch", "_headers")]
STATE = pa.schema([*LEFT, pa.field("_deleted", pa.bool_())])


def record(key: int | None, place: tuple[int, int], **values: Any) -> Row:
    """A row of the log, from partition and offset; fields that are not given are null."""
    partition, offset = place
    coordinates = {"_topic": "t", "_topic_id": "A", "_partition": partition, "_offset": offset}
    return {
        **dict.fromkeys(DATA.names),
        "_key_id": key,
        **coordinates,
        "_timestamp": T0,
        "_headers": [{"key": "h", "value": b"1"}],
        "_batch": "forward-1-1",
        "_tombstone": False,
        **values,
    }


def kept(row: Row, deleted: bool = False, **values: Any) -> Row:
    """The row as it stands in a state table, written out by hand."""
    row = {name: value for name, value in row.items() if name in STATE.names}
    return {**row, "_deleted": deleted, **values}


@dataclass
class Commit:
    """A commit of the state table. `told` replaces what its userMetadata says."""

    data_version: int
    rows: list[Row]
    told: dict[str, Any] = field(default_factory=dict)
    metadata: str | None = None
    operation: str = "MERGE"
    schema: pa.Schema = STATE
    claims: bool = True


@dataclass
class StateWorld:
    """`spans` are the rows that each version of the data table appends."""

    spans: list[list[Row]]
    commits: list[Commit]
    topics: list[tuple[str, str]] = field(default_factory=lambda: [("t", "A")])
    table: str = "t"

    def write(self, warehouse: Path) -> None:
        data = warehouse / self.table
        for rows in self.spans:
            write_deltalake(data, pa.Table.from_pylist(rows, DATA), mode="append")
        table_id = DeltaTable(data).metadata().id
        plans = [
            planned(topic, topic_id, number)
            for number, (topic, topic_id) in enumerate(self.topics, 1)
        ]
        write_deltalake(f"{data}__offsets", pa.Table.from_pylist(plans, SCHEMAS["offsets"]))
        for number, commit in enumerate(self.commits):
            self._commit(Path(f"{data}__state"), number, commit, str(table_id))

    def _commit(self, root: Path, number: int, commit: Commit, table_id: str) -> None:
        told = {"data_table_id": table_id, "data_version": commit.data_version, "digest": "d"}
        told |= {**dict.fromkeys(COUNTS, 0), **commit.told}
        transaction = Transaction("sluice:p:state", commit.data_version)
        properties = CommitProperties(
            app_transactions=[transaction] if commit.claims else [],
            custom_metadata={"userMetadata": commit.metadata or json.dumps(told)},
        )
        rows = pa.Table.from_pylist(commit.rows, commit.schema)
        write_deltalake(
            root, rows, mode="overwrite", schema_mode="overwrite", commit_properties=properties
        )
        log = root / "_delta_log" / f"{number:020d}.json"
        written = log.read_text(encoding="utf-8")
        renamed = written.replace('"operation":"WRITE"', f'"operation":"{commit.operation}"')
        log.write_text(renamed, encoding="utf-8")


LOG = [record(key, (0, key)) for key in range(3)]
GONE = record(2, (0, 3), _tombstone=True)


def two_versions() -> StateWorld:
    """Three keys, of which the last is deleted."""
    first = [kept(row) for row in LOG]
    second = [*first[:2], kept(GONE, deleted=True)]
    return StateWorld([LOG, [GONE]], [Commit(0, first), Commit(1, second)])


def judged(warehouse: Path, rules: StateRules = BY_KEY, **said: Any) -> str:
    """The verdict on the state of a little world, a line for each violation."""
    return "\n".join(judge_state(warehouse, "t", "p", rules, **said))


def verdict(world: StateWorld, warehouse: Path, rules: StateRules = BY_KEY, **said: Any) -> str:
    """Write the world there, and judge it."""
    world.write(warehouse)
    return judged(warehouse, rules, **said)


def planned(topic: str, topic_id: str, number: int, lane: str = "forward") -> Row:
    """A plan that names a topic id."""
    return {
        **dict.fromkeys(COLUMNS),
        "format_version": 2,
        "pipeline": "p",
        "lane": lane,
        "generation": 1,
        "batch_id": number,
        "batch": f"{lane}-1-{number}",
        "event": "planned",
        "topic": topic,
        "topic_id": topic_id,
        "partition": 0,
        "start_offset": 0,
        "end_offset": 9,
        "recorded_at": T0,
    }
