"""A data table says itself that a batch is in doubt, and of which topic ids."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from sluice.offsets.batches import Batch
from sluice.tables.delta_log import DeltaLog
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.empty_commit import commit_transactions
from sluice.tables.fence import FENCE
from sluice.tables.foreign_commits import may_have_deleted

from tests.unit.builders import batch, offsets, planned, sequence

NOW = datetime(2013, 1, 1, tzinfo=UTC)
BATCH = batch(
    planned(offsets(0, 5), topic_id="one"),
    planned(offsets(0, 5, topic="other"), topic_id="two"),
    planned(offsets(7, 7, topic="third"), topic_id="idle"),
    number=2,
)


@pytest.fixture
def table(tmp_path: Path) -> DeltaTable:
    return DeltaTable.create(tmp_path / "t", pa.schema([("id", pa.int64())]))


def now(table: DeltaTable) -> DeltaSnapshot:
    return DeltaLog(table.table_uri).snapshot()


def test_a_mark_is_about_one_batch_and_one_topic_id(table: DeltaTable) -> None:
    assert not now(table).log.doubtful(BATCH)
    now(table).log.mark_doubtful(BATCH, ["two"], NOW)
    assert now(table).log.doubtful(BATCH) == ["two"]
    others = [Batch(sequence(generation=2), 2, "append", "", BATCH.ranges)]
    others += [Batch(sequence(), n, "append", "", BATCH.ranges) for n in (1, 3, 22)]
    assert not any(now(table).log.doubtful(each) for each in others)
    now(table).log.mark_doubtful(BATCH, ["one"], NOW)
    assert now(table).log.doubtful(BATCH) == ["one", "two"]


def test_a_mark_lands_beside_batches_and_is_no_batch_and_no_others_commit(
    table: DeltaTable,
) -> None:
    looked = now(table)
    landed = CommitProperties(app_transactions=[Transaction(BATCH.sequence.app_id, 2)])
    table.create_write_transaction([], "append", table.schema(), commit_properties=landed)
    looked.log.mark_doubtful(BATCH, ["one"], NOW)
    found = now(table)
    assert found.log.doubtful(BATCH) == ["one"]
    named = {app for each in found.log.commits() for app in each.writers}
    assert BATCH.sequence.app_id in named
    assert not may_have_deleted("flights", found.log.commits())
    assert found.log.require_no_foreign_commits("flights")


def test_a_restore_does_not_take_it_away(table: DeltaTable) -> None:
    now(table).log.mark_doubtful(BATCH, ["one"], NOW)
    DeltaTable(table.table_uri).restore(0)
    assert now(table).log.doubtful(BATCH) == ["one"]


@pytest.mark.parametrize(
    ("feature", "marked"), [("rowTracking", ["one"]), ("inCommitTimestamp", [])]
)
def test_a_table_that_cannot_be_fenced_goes_without(
    table: DeltaTable, feature: str, marked: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    commit_transactions(table, [Transaction("anybody", FENCE)], NOW)
    protocol = (
        '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],'
        f'"writerFeatures":["appendOnly","{feature}"]}}}}\n'
    )
    log = Path(table.table_uri.removeprefix("file://"), "_delta_log", f"{2:020d}.json")
    log.write_text(protocol, encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        now(table).log.mark_doubtful(BATCH, ["one"], NOW)
    assert now(table).log.doubtful(BATCH) == marked
    assert ("it cannot say that forward-1-2 is in doubt" in caplog.text) is not bool(marked)
