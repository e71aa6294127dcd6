"""The state stage: a pipeline that lands without Spark, and whose state a lake refreshes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from sluice.errors import SluiceError
from sluice.lake.port import NoOrder, StateAttempt
from sluice.protocol.refresh.due_span import due_span
from sluice.state_table.commits import StateCommit, app_id
from sluice.state_table.counts import StateCounts
from sluice.state_table.topic_ranks import TopicRanks
from sluice.tables.data_files import read_chunks
from sluice.tables.stored_columns import stored_columns

from tests.contracts.stage import Stage
from tests.worlds.pipelines import Installed
from tests.worlds.records import produce
from tests.worlds.written_lake.row_order import compared

Told = Mapping[str, Any]
_PAST = 1_700_000_000_000


@dataclass
class StateStage(Stage):
    """A pipeline whose state an engine refreshes; `said` is what became of each refresh."""

    sent: int = 0

    @property
    def data(self) -> Path:
        return self.trips.data

    @property
    def table(self) -> Path:
        return self.trips.warehouse / "trips__state"

    @property
    def landing(self) -> Installed:
        """The pipeline as it lands batches."""
        return replace(self.trips, written=True)

    @property
    def due(self) -> StateAttempt:
        """The attempt at the next span."""
        found = due_span(self.pipeline.resources)
        assert found is not None, "the log has news"
        return found.attempt

    def attempt_at(self, attempt: StateAttempt) -> StateCounts:
        """Ask the lake itself."""
        pipeline = self.pipeline
        with pipeline.engine.state(pipeline.resources) as lake:
            return lake.follow(attempt)

    def compare(self, most: int, ranks: TopicRanks | None = None) -> None:
        """Compare the state with the log's newest version, and note what was said."""
        pipeline = self.pipeline
        with pipeline.engine.state(pipeline.resources) as lake:
            due = self.due if ranks is None else replace(self.due, ranks=ranks)
            self.said.append(lake.differing(due, most))
            version = self.pipeline.resources.state.snapshot().version
            self.said.append(lake.deleted(version or 0))

    def put(
        self,
        *values: Mapping[str, Any] | None,
        partition: int = 0,
        key: bytes | None = b"k",
        topic: str | None = None,
        at: int | None = None,
    ) -> None:
        """Produce a record of each value, a second after one another, or all at one moment."""
        for value in values:
            self.sent += 1
            moment = _PAST + 1000 * (self.sent if at is None else at)
            sent = None if value is None else json.dumps(value).encode()
            to = topic or self.topic
            produce(self.trips.bootstrap, to, [sent], partition, key=key, timestamp=moment)

    def run(self) -> None:
        """What `sluice run` does before it refreshes."""
        self.landing.run()

    def refresh(self) -> None:
        """Refresh the state, and note what was said."""
        try:
            found = [str(each) for each in self.pipeline.refresh()]
        except SluiceError as refused:
            self.said.append((type(refused).__name__, self._masked(str(refused))))
        else:
            self.said.append(found)

    def refresh_by(self, ranks: TopicRanks) -> None:
        """Refresh the state, with topics in this order, and note what the lake said."""
        try:
            self.said.append(self.attempt_at(replace(self.due, ranks=ranks)))
        except NoOrder as refused:
            self.said.append(self._masked(str(refused)))

    @property
    def topic_id(self) -> str:
        """The id of the topic whose records the log has."""
        ids = DeltaTable(self.data).to_pyarrow_table(columns=["_topic_id"])["_topic_id"]
        return min(map(str, ids.to_pylist()))

    def follow(self, *values: Mapping[str, Any] | None, **record: Any) -> None:
        """Produce, land and refresh."""
        self.put(*values, **record)
        self.run()
        self.refresh()

    def others_add(self, **changed: Any) -> None:
        """Somebody else adds a copy of the log's first row, behind all, with other values."""
        rows = DeltaTable(self.data).to_pyarrow_table()
        last = max(rows["_offset"].to_pylist())
        row = rows.slice(0, 1).to_pylist()[0] | {"_offset": last + 1} | changed
        added = pa.Table.from_pylist([row], rows.schema)
        write_deltalake(self.data, added, mode="append")

    def observed(self) -> Told:
        """What the lake has left of the state, but for what no two writers share."""
        if not (self.table / "_delta_log").exists():
            return {"said": self.said}
        table = DeltaTable(self.table)
        log = sorted((self.table / "_delta_log").glob(f"{'[0-9]' * 20}.json"))
        columns = stored_columns(table)
        return {
            "said": self.said,
            "columns": columns,
            "rows": self._rows(table, [each.name for each in columns]),
            "stands_at": table.transaction_version(app_id("trips")),
            "commits": [each for file in log for each in _commits(file)],
        }

    def _rows(self, table: DeltaTable, names: list[str]) -> list[object]:
        found = [row for some in read_chunks(table, names) for row in some.to_pylist()]
        places = sorted({(self._masked(row["_topic"]), row["_topic_id"]) for row in found})
        ids = {topic_id: f"id {n}" for n, (_, topic_id) in enumerate(places)}
        masked = (
            {**row, "_topic": self._masked(row["_topic"]), "_topic_id": ids[row["_topic_id"]]}
            for row in found
        )
        return sorted((compared(row, names) for row in masked), key=repr)

    def _masked(self, text: str) -> str:
        masked = text.replace(str(self.trips.warehouse), "warehouse")
        for number, each in enumerate(self.trips.topics):
            masked = masked.replace(each, f"topic {number}")
        return re.sub(r"topic id [\w-]{22}", "its topic id", masked)


def _commits(file: Path) -> list[Told]:
    """What a commit says of itself, and the transaction that it has."""
    actions = [json.loads(line) for line in file.read_bytes().splitlines()]
    ids = [(e["txn"]["appId"], e["txn"]["version"]) for e in actions if "txn" in e]
    told = [e["commitInfo"].get("userMetadata") for e in actions if "commitInfo" in e]
    read = [StateCommit.read(each) for each in told]
    return [{"ids": ids, "told": [e and _shared(e) for e in read]}]


def _shared(commit: StateCommit) -> StateCommit:
    """Without what is each table's own: its id, and its log's bytes."""
    known = None if commit.log_commit is None else 0
    return replace(commit, data_table_id="", log_commit=known)
