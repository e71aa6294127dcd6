"""Rows of the offsets table say all that a plan or a receipt holds, and are read back as such."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import NewerFormat
from sluice.offsets.batches import Batch, BatchSequence, Mode, PlannedRange
from sluice.offsets.loss_causes import parse_cause
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.offsets.resets import LANES
from sluice.tables.offsets_rows import Row, plan_rows, read_batches, read_receipts, receipt_rows

from tests.unit.builders import CLUSTER, TOPIC_ID, batch, offsets, planned, sequence

ORIGIN = Origin("scheduled__2013-01-01", "airflow", datetime(2013, 1, 2, 3, 4, tzinfo=UTC))
# The columns of the offsets table that design section 9 promises.
PROMISED_TEXT = """
format_version pipeline lane generation batch_id batch event mode topic topic_id partition
start_offset end_offset log_start_offset last_stable_offset leader_epoch records quarantined gaps
gap_control gap_aborted gap_compacted gap_lost data_version cursor_before cursor_after closed_at
cluster_id data_table_id run_id actor reason recorded_at spec
complete_until quarantine_table_id filtered
"""
PROMISED = set(PROMISED_TEXT.split())
TABLE_ID = "6f1c1a1e-2b7e-4d2c-9d60-1f0f8f0f7a11"
ASIDE_ID = "0a9c1a1e-2b7e-4d2c-9d60-1f0f8f0f7a12"
LOSS = Loss(offsets(5, 20, 1), TOPIC_ID, parse_cause("retention or deleted records"))


def test_a_planned_row_says_everything_about_its_range() -> None:
    written = planned(offsets(5, 9, 2), log_start=1, stable=30, epoch=4)
    plan = Plan((batch(written, number=42),)).for_tables(TABLE_ID, ASIDE_ID)
    (row,) = plan_rows(plan, ORIGIN)
    assert row == {
        "format_version": 2,
        "pipeline": "flights",
        "lane": "forward",
        "generation": 1,
        "batch_id": 42,
        "batch": "forward-1-42",
        "event": "planned",
        "mode": "append",
        "topic": "flights",
        "topic_id": TOPIC_ID,
        "partition": 2,
        "start_offset": 5,
        "end_offset": 9,
        "log_start_offset": 1,
        "last_stable_offset": 30,
        "leader_epoch": 4,
        "cluster_id": CLUSTER,
        "data_table_id": TABLE_ID,
        "quarantine_table_id": ASIDE_ID,
        "complete_until": None,
        "run_id": "scheduled__2013-01-01",
        "actor": "airflow",
        "recorded_at": datetime(2013, 1, 2, 3, 4, tzinfo=UTC),
    }


def test_a_loss_row_says_what_was_lost_and_belongs_to_no_batch() -> None:
    plan = Plan((batch(offsets(0, 1), offsets(20, 25, 1)),), (LOSS,))
    (row,) = (row for row in plan_rows(plan, ORIGIN) if row["event"] == "loss")
    assert "batch_id" not in row
    assert row["batch"] is None
    assert (row["topic"], row["partition"], row["topic_id"]) == ("flights", 1, TOPIC_ID)
    assert (row["start_offset"], row["end_offset"]) == (5, 20)
    assert (row["gaps"], row["gap_lost"]) == (15, 15)
    assert row["reason"] == "retention or deleted records"
    assert (row["actor"], row["cluster_id"]) == ("airflow", CLUSTER)


def test_a_receipt_repeats_the_plan_and_adds_counts_version_and_losses() -> None:
    written = batch(offsets(0, 10), offsets(4, 4, 1), number=3)
    gaps = GapCount(control=1, aborted=2, compacted=3, lost=1)
    counted = (
        PartitionCount(written.ranges[0], 2, 1, gaps),
        PartitionCount(written.ranges[1], 0, 0, GapCount()),
    )
    rows = list(receipt_rows(Receipt(written, counted, 17, (LOSS,)), ORIGIN))
    plan = list(plan_rows(Plan((written,)), ORIGIN))
    assert [row["event"] for row in rows] == ["committed", "committed", "loss"]
    for row, before in zip(rows, plan, strict=False):
        assert row.items() >= (before | {"event": "committed", "data_version": 17}).items()
    first = rows[0]
    assert (first["records"], first["quarantined"], first["gaps"]) == (2, 1, 7)
    assert [first[f"gap_{kind}"] for kind in ("control", "aborted", "compacted", "lost")] == [
        1, 2, 3, 1,
    ]  # fmt: skip


def test_no_rows_are_no_batches_and_no_receipts() -> None:
    assert read_batches(sequence(), []) == ()
    assert list(read_receipts(sequence(), [])) == []


topics = st.sampled_from(["flights", "delays", "a.b-c_d"])
partitions = st.lists(
    st.builds(TopicPartition, topics, st.integers(0, 20)), min_size=1, max_size=5, unique=True
)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[PlannedRange, ...]:
    found = []
    for each in sorted(draw(partitions)):
        start, span = draw(st.integers(0, 2**40)), draw(st.integers(0, 50))
        found.append(
            PlannedRange(
                OffsetRange(each, start, start + span),
                f"id-{each.topic}",
                draw(st.integers(0, start)),
                draw(st.integers(start + span, 2**41)),
                draw(st.none() | st.integers(0, 100)),
            )
        )
    return tuple(found)


@st.composite
def sequences_of_batches(draw: st.DrawFn) -> tuple[Batch, ...]:
    lane = draw(st.sampled_from(LANES))
    chosen = BatchSequence("flights", lane, draw(st.integers(1, 9)))
    mode: Mode = draw(st.sampled_from(["append", "replace"]))
    first = draw(st.integers(1, 10**6))
    several = draw(st.lists(ranges(), min_size=1, max_size=4))
    return tuple(Batch(chosen, n, mode, CLUSTER, each) for n, each in enumerate(several, first))


@st.composite
def receipts(draw: st.DrawFn, written: Batch) -> Receipt:
    counted = []
    for each in written.ranges:
        left, parts = each.offsets.span, []
        for _ in range(5):
            parts.append(draw(st.integers(0, left)))
            left -= parts[-1]
        quarantined, *gaps = parts
        counted.append(PartitionCount(each, left, quarantined, GapCount(*gaps)))
    return Receipt(written, tuple(counted), draw(st.integers(0, 10**6)))


def shuffled(rows: list[Row], random: Random) -> list[Row]:
    return random.sample(rows, len(rows))


@given(sequences_of_batches(), st.randoms(use_true_random=False))
def test_plans_are_read_back_from_rows_in_any_order(
    batches: tuple[Batch, ...], random: Random
) -> None:
    rows = list(plan_rows(Plan(batches), ORIGIN))
    assert all(set(row) <= PROMISED for row in rows)
    assert read_batches(batches[0].sequence, shuffled(rows, random)) == batches


@given(st.data(), sequences_of_batches(), st.randoms(use_true_random=False))
def test_receipts_are_read_back_from_rows_in_any_order(
    data: st.DataObject, batches: tuple[Batch, ...], random: Random
) -> None:
    written = [data.draw(receipts(each)) for each in batches]
    rows = [row for each in written for row in receipt_rows(each, ORIGIN)]
    assert all(set(row) <= PROMISED for row in rows)
    assert all(row["gaps"] == sum(row[k] for k in row if k.startswith("gap_")) for row in rows)
    assert list(read_receipts(batches[0].sequence, shuffled(rows, random))) == written


@pytest.mark.parametrize("event", ["planned", "committed"])
def test_rows_of_an_unknown_format_are_refused_not_guessed_at(event: str) -> None:
    written = batch(offsets(0, 0))
    line = PartitionCount(written.ranges[0], 0, 0, GapCount())
    rows = {
        "planned": plan_rows(Plan((written,)), ORIGIN),
        "committed": receipt_rows(Receipt(written, (line,), 1), ORIGIN),
    }[event]
    newer = [row | {"format_version": 3} for row in rows]
    with pytest.raises(NewerFormat, match="expected 2 or less, found 3"):
        list((read_receipts if event == "committed" else read_batches)(sequence(), newer))
