"""Run summaries: one line that tells what a task did, whatever the number of partitions.

It is read after the step is done: what cannot be read fails no step.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sluice.broker.cluster import KafkaCluster
from sluice.broker.port import TopicSelection
from sluice.errors import TooManyQuarantined
from sluice.offsets.batches import BatchReference
from sluice.offsets.lag import offsets_left
from sluice.offsets.loss_causes import parse_cause
from sluice.offsets.losses import Loss
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt, receipt_without_gaps
from sluice.operations.run_summary import (
    brief_summary,
    failure_summary,
    ingest_summary,
    plan_summary,
    refresh_summary,
    run_note,
    settle_summary,
    summarize_plan,
    summarize_settlement,
)
from sluice.pipeline import Pipeline, open_pipeline
from sluice.protocol.refresh.state_news import StateNews
from sluice.protocol.settle.write_receipts import Settlement
from sluice.settings import Settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.state_table.counts import NOTHING, StateCounts, together

from tests.unit.builders import TOPIC_ID, batch, log, offsets, partition, planned, sequence, state
from tests.unit.operations.quarantine.test_drop import RAW

WORK = BatchReference(sequence(), range(7, 9))


def test_a_plan_tells_the_ranges_of_its_batches_together() -> None:
    batches = [
        batch(offsets(10, 15), offsets(3, 3, 1), number=7),
        batch(offsets(15, 20), offsets(3, 4, 1), number=8),
    ]
    assert plan_summary(WORK, batches, {}) == {
        "said": "forward-1-7 … forward-1-8 (2 batches): flights[0] [10, 20), flights[1] [3, 4):"
        " 11 offsets",
        "batches": 2,
        "offsets": 11,
    }


def test_a_plan_without_news_tells_where_the_cursor_stands() -> None:
    nothing = BatchReference(sequence())
    cursor = {partition(1): 80, partition(0): 120}
    said = plan_summary(nothing, (), cursor)["said"]
    assert said == "nothing new: cursor at flights[0]@120, flights[1]@80"


def test_ten_thousand_partitions_make_a_short_summary() -> None:
    many = range(10_000)
    wide = batch(*(offsets(0, 5, each) for each in many), number=7)
    summaries = [
        plan_summary(WORK, [wide], {}),
        plan_summary(BatchReference(sequence()), (), {partition(each): 5 for each in many}),
        settle_summary([receipt_without_gaps(wide, 3)] * 200, 0, None),
    ]
    assert all(len(json.dumps(each)) < 600 for each in summaries)
    assert (
        "flights[9] [0, 5), … and 9,990 more: 50,000 offsets, and 1 more batch"
        in (summaries[0]["said"])
    )
    assert "flights[9]@5, … and 9,990 more" in summaries[1]["said"]


def test_settle_tells_the_counts_and_the_lag() -> None:
    lost = Loss(offsets(18, 20), TOPIC_ID, parse_cause("retention or deleted records"))
    line = PartitionCount(planned(offsets(0, 20)), 14, 3, GapCount(control=1, lost=2))
    receipt = Receipt(batch(offsets(0, 20), number=7), (line,), 3, (lost,))
    until = datetime(2026, 11, 1, 6, 0, 0, 999, UTC)
    assert settle_summary([receipt], 1200, until) == {
        "said": "forward-1-7: 14 records, 3 quarantined, 3 gaps, 2 of them lost, lag left 1,200;"
        " complete until 2026-11-01 06:00:00 UTC",
        "batches": 1,
        "records": 14,
        "quarantined": 3,
        "gaps": 3,
        "lost": 2,
        "lag": 1200,
        "complete_until": "2026-11-01T06:00:00.000999+00:00",
    }
    assert settle_summary([], None, None)["said"] == "nothing to settle; lag left unknown"


def test_the_lag_counts_what_was_never_read() -> None:
    logs = state(log(start=0, stable=100), log(start=40, stable=50)).logs
    assert offsets_left({partition(0): 90}, logs) == 20


def test_ingest_tells_what_it_has_left() -> None:
    assert ingest_summary(WORK.first(1), WORK.above(7)) == {
        "said": "done: forward-1-7; forward-1-8 comes after fresh data"
    }
    assert "Spark was not needed" in ingest_summary(WORK.first(0), WORK.first(0))["said"]


def test_a_failure_is_told_by_its_first_line_and_the_next_move() -> None:
    lines = ["4 of 6 records are undecodable", "flights[0]@1: no object", "Correct the schema."]
    said = "failed: TooManyQuarantined: 4 of 6 records are undecodable … Correct the schema."
    assert failure_summary(TooManyQuarantined("\n".join(lines))) == {"said": said}
    assert failure_summary(TooManyQuarantined(lines[0]))["said"].endswith("undecodable")
    assert len(failure_summary(TooManyQuarantined("x" * 9999))["said"]) < 600


def test_a_note_fits_into_its_column() -> None:
    assert run_note({"plan": "a", "settle": "b"}, 1000) == "- plan: a\n- settle: b"
    assert 990 < len(run_note({"plan": "a" * 5000}, 1000)) <= 1000


def test_a_run_that_was_cleared_keeps_what_it_did_and_adds_what_it_did_then() -> None:
    failed = run_note({"plan": "[0, 9)", "ingest": "failed: too many"}, 1000)
    mended = run_note({"plan": "[0, 9)", "ingest": "done", "settle": "9 records"}, 1000, failed)
    assert mended.splitlines() == [
        "- plan: [0, 9)",
        "- ingest: failed: too many",
        "- ingest, again: done",
        "- settle: 9 records",
    ]
    nothing = {"plan": "nothing new", "settle": "nothing to settle"}
    once, twice = (
        run_note(nothing, 1000, note) for note in (mended, run_note(nothing, 1000, mended))
    )
    assert once == twice
    assert once.splitlines()[4:] == [
        "- plan, again: nothing new",
        "- settle, again: nothing to settle",
    ]


def test_the_last_line_of_a_task_is_what_it_did_last() -> None:
    note = ""
    for line in ("failed: too many", "done", "failed: too many", "failed: too many"):
        note = run_note({"ingest": line}, 1000, note)
    assert note.splitlines() == [
        "- ingest: failed: too many",
        "- ingest, again: done",
        "- ingest, again: failed: too many",
    ]


def test_a_long_note_keeps_its_beginning_and_its_end() -> None:
    note = ""
    for number in range(40):
        note = run_note({"plan": f"[{number}, 9) {'x' * 200}", "settle": str(number)}, 1000, note)
    assert len(note) <= 1000
    assert note.startswith("- plan: [0, 9)")
    assert note.endswith("- settle, again: 39")


def test_what_was_told_at_length_is_brief_in_a_note() -> None:
    lines = [f"flights[{number}]: 9 → 0" for number in range(200)]
    said = brief_summary(lines, "flights: preview 2-41-9f; nothing was changed")["said"]
    assert said.startswith("flights[0]: 9 → 0; flights[1]: 9 → 0; flights[2]: 9 → 0; … (all in")
    assert said.endswith("; flights: preview 2-41-9f; nothing was changed")
    assert brief_summary((), "done") == {"said": "done"}


@pytest.fixture
def unreadable(tmp_path: Path) -> Pipeline:
    """A pipeline whose offsets table cannot be read any more."""
    log = tmp_path / "trips__offsets" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("no commit", encoding="utf-8")
    settings = Settings(warehouse=str(tmp_path), pipelines=tmp_path)
    no_broker = {"bootstrap.servers": "127.0.0.1:1", "socket.timeout.ms": 1000}
    return open_pipeline(PipelineSpec.model_validate(RAW), settings, no_broker)


def test_a_plan_is_told_by_its_batches_where_its_ranges_cannot_be_read(
    unreadable: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    assert summarize_plan(unreadable.resources, WORK) == {
        "said": "forward-1-7 … forward-1-8 (2 batches): the ranges are unknown",
        "batches": 2,
    }
    nothing = summarize_plan(unreadable.resources, BatchReference(sequence()))
    assert nothing == {"said": "nothing new: the cursor is unknown", "batches": 0}
    assert {each.levelname for each in caplog.records} == {"WARNING"}
    assert "trips: the plan's ranges are unknown: " in "\n".join(caplog.messages)


class Odd(KafkaCluster):
    """A cluster whose answer is none that we know."""

    def state(self, selection: TopicSelection) -> KafkaState:
        raise TypeError("an answer that nobody expected")


def test_a_settlement_is_told_without_the_lag_whatever_keeps_it_unknown(
    unreadable: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    odd = replace(unreadable.resources, kafka=Odd(unreadable.resources.client))
    said = summarize_settlement(odd, Settlement())
    assert said["said"] == "nothing to settle; lag left unknown"
    assert (said["batches"], said["lag"], said["complete_until"]) == (0, None, None)
    told = "trips: the lag is unknown: TypeError: an answer that nobody expected"
    assert told in "\n".join(caplog.messages)


def test_a_refresh_tells_where_the_state_stands_and_what_has_changed() -> None:
    assert refresh_summary(None, None) == {"said": "state: not made yet", "data_version": None}
    nothing = refresh_summary(7, None)
    assert nothing["said"] == "state: stands at version 7 of the data table: nothing new"
    counts = together([StateCounts(inserted=10), StateCounts(updated=3, stale=1)])
    found = refresh_summary(7, StateNews("id", 4, 7, counts))
    assert found["said"] == (
        "state: stands at version 7 of the data table: 10 inserted, 3 updated, 1 stale"
    )
    assert (found["state_version"], found["data_version"], found["updated"]) == (4, 7, 3)


def test_no_counts_together_are_none() -> None:
    assert together([]) == NOTHING
