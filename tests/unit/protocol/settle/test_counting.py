"""A batch is counted by its commit's row count only where that can mean nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, Transaction, write_deltalake
from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.receipts import GapCount, Span
from sluice.offsets.row_offsets import NO_ROWS
from sluice.protocol.settle.counting import account
from sluice.protocol.settle.gaps import Gaps
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.coordinates import COORDINATES
from sluice.tables.delta_log import DeltaLog

from tests.unit.builders import TOPIC_ID, batch, offsets


def landed(table: Path, of: Batch, *writers: Batch) -> DeltaLog:
    """The batch's commit has one row for each writer, and says how many, as Spark does."""
    place = {"_topic_id": TOPIC_ID, "_partition": 0}
    rows = [{**place, "_offset": at, "_batch": str(each)} for at, each in enumerate(writers)]
    properties = CommitProperties(
        custom_metadata={"userMetadata": batch_metadata(of, "attempt")},
        app_transactions=[Transaction(of.sequence.app_id, of.number)],
    )
    content = pa.Table.from_pylist(rows, schema=COORDINATES)
    write_deltalake(table, content, commit_properties=properties)
    (commit,) = (table / "_delta_log").glob("*.json")
    actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
    for info in (each["commitInfo"] for each in actions if "commitInfo" in each):
        info["operationMetrics"] = {"numOutputRows": str(len(rows))}
    commit.write_text("\n".join(map(json.dumps, actions)) + "\n", encoding="utf-8")
    return DeltaLog(str(table))


def compacted(planned: PlannedRange, missing: list[Span]) -> Gaps:
    return Gaps(GapCount(compacted=sum(end - start for start, end in missing)))


def test_the_rows_that_a_replacement_only_moved_are_none_that_it_read(tmp_path: Path) -> None:
    before, again = batch(offsets(0, 3)), batch(offsets(0, 3), number=2, mode="replace")
    data = landed(tmp_path, again, again, before, again).snapshot()
    receipt = account(again, data, lambda: lambda _: NO_ROWS.offsets, compacted, lambda *_: None)
    (counted,) = receipt.counted
    assert (counted.records, counted.gaps) == (2, GapCount(compacted=1))
