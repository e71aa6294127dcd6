"""A record that Kafka holds and the table lacks: no policy gives it up, it is read again."""

from __future__ import annotations

import json

import pytest
from sluice.errors import GapUnexplained
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import to_earliest

from tests.oracle import read_truth
from tests.worlds.left_out import land_without
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Of the second batch, [10, 20), a faulty reader has left 15 out."""
    made = landed(pipeline(topic(), on_data_loss="record"), batches=1)
    more(made, 10, 10)
    truth = read_truth(made.bootstrap, made.topics)
    land_without(made, made.plan(), 15, truth)
    return made


def refused(trips: Installed) -> str:
    with pytest.raises(GapUnexplained) as problem:
        trips.run()
    assert list(trips.ranges("committed")) == ["forward-1-1"]
    assert trips.offsets("loss") == []
    return str(problem.value)


def test_it_stops_the_line_until_it_is_read_again(trips: Installed) -> None:
    faulty, gap = trips.version(), f"{trips.topics[0]}[0] [15, 16)"
    said = refused(trips)
    assert f"{gap} present in the log but not in the table" in said
    assert f"`sluice reprocess trips --range '{gap}'` reads them again" in said
    assert trips.process("reprocess", "--range", gap).returncode == 0
    rows = {row["batch"]: (row["records"], row["gaps"]) for row in trips.offsets("committed")}
    assert rows == {"forward-1-1": (10, 0), "forward-1-2": (10, 0), "backfill-1-1": (1, 0)}
    assert trips.offsets("loss") == []
    told = trips.sluice("verify")
    assert told.returncode == 0, told.stdout
    assert trips.judge(altered=frozenset({faulty})).facts.rows == 20


def test_the_row_that_it_should_have_replaced_does_not_stand_for_it(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(), on_data_loss="record"), batches=1)
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    truth = read_truth(trips.bootstrap, trips.topics)
    land_without(trips, trips.plan(), 5, truth)
    assert len(trips.rows()) == 10
    gap = f"{trips.topics[0]}[0] [5, 6)"
    with pytest.raises(GapUnexplained) as problem:
        trips.run()
    assert f"{gap} present in the log but not in the table" in str(problem.value)
    assert trips.process("reprocess", "--range", gap).returncode == 0
    assert trips.sluice("verify").returncode == 0
    assert {row["_batch"] for row in trips.rows() if row["_offset"] == 5} == {"backfill-2-1"}


def test_a_person_may_give_it_up_and_it_stays_given_up(trips: Installed) -> None:
    refused(trips)
    gap = f"{trips.topics[0]}[0] [15, 16)"
    given_up = trips.sluice("verify", "--accept-gap", gap, "--reason", "no use")
    assert given_up.returncode == 0, given_up.stderr + given_up.stdout
    assert "lost: 1 offset in 1 loss record" in given_up.stdout
    (row,) = trips.offsets("loss")
    assert row["reason"].startswith("present in the log but not in the table; accepted by ")
    verdict = trips.verdict(altered=frozenset({trips.version()}))
    assert verdict.invariants == {1, 8, 9}, f"Kafka holds it, and the oracle knows: {verdict}"


def test_what_a_person_gave_up_and_somebody_reads_again_is_lost_no_more(trips: Installed) -> None:
    refused(trips)
    gap = f"{trips.topics[0]}[0] [15, 16)"
    assert trips.sluice("verify", "--accept-gap", gap, "--reason", "no use").returncode == 0
    assert "lost: 1 offset in 1 loss record" in trips.sluice("status").stdout
    trips.ingest(trips.open().backfill(offset_ranges([gap]), "test", "pytest").work)
    trips.settle()
    assert len(trips.rows()) == 20
    for command in ("verify", "status"):
        assert "lost:" not in trips.sluice(command).stdout
    assert len(json.loads(trips.sluice("history", "--json").stdout)["losses"]) == 1, "it was told"
