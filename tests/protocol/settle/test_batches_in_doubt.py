"""A batch whose topic was created anew while it was read waits for a decision about that batch."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from deltalake import DeltaTable
from sluice.errors import BatchInDoubt, ResetNeeded
from sluice.operations.backfill.selection import Selection, offset_ranges
from sluice.operations.reset.targets import Target, named_target, to_earliest, to_latest, to_table

from tests.worlds.batch_in_doubt import batch_in_doubt
from tests.worlds.next_run import refused_alike
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_topic

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def doubtful(topic: Topic, pipeline: Pipelines) -> Installed:
    """A batch of two topics has landed; the first is created anew before anything else is done.

    To the tables it is all one whether the topic was read before that or after it.
    """
    return batch_in_doubt(topic, pipeline)


def reset_to(trips: Installed, name: str) -> None:
    known: dict[str, Target] = {"earliest": to_earliest, "latest": to_latest, "table": to_table}
    target = known.get(name) or named_target("shift-by", "0")
    trips.open().reset(target, "as told", "run", "pytest")


def again(trips: Installed) -> Selection:
    return offset_ranges([f"{trips.topics[1]}[0] [0, 2)"])


DECIDING_ABOUT_OTHER_THINGS: dict[str, Callable[[Installed], object]] = {
    "plan": lambda trips: trips.plan(),
    "settle": lambda trips: trips.settle(),
    "dry run": lambda trips: trips.open().dry_run(),
    "reset to the beginning": lambda trips: reset_to(trips, "earliest"),
    "reset to the end": lambda trips: reset_to(trips, "latest"),
    "reset that stays": lambda trips: reset_to(trips, "where it is"),
    "reset to the table": lambda trips: reset_to(trips, "table"),
    "preview of a reset that stays": lambda trips: trips.open().preview_reset(
        named_target("shift-by", "0")
    ),
    "backfill": lambda trips: trips.open().backfill(again(trips), "run", "pytest"),
    "dry run of a backfill": lambda trips: trips.open().dry_run(again(trips)),
    "maintenance": lambda trips: trips.open().maintain("run", "pytest"),
}


@pytest.mark.parametrize("what", DECIDING_ABOUT_OTHER_THINGS)
def test_no_other_decision_gives_it_a_receipt(doubtful: Installed, what: str) -> None:
    for _ in range(2):
        with pytest.raises(BatchInDoubt) as refused:
            DECIDING_ABOUT_OTHER_THINGS[what](doubtful)
    assert "forward-1-1: committed, but" in str(refused.value)
    assert f"{doubtful.topics[1]}[0]: " not in str(refused.value)
    assert doubtful.offsets("committed") == []
    assert doubtful.offsets("reset_intended") == []


def test_it_is_recorded_once_with_its_ranges(doubtful: Installed) -> None:
    for step in (doubtful.plan, doubtful.settle, doubtful.plan):
        with pytest.raises(BatchInDoubt):
            step()
    (row,) = doubtful.offsets("doubt")
    assert (row["batch"], row["topic"], row["start_offset"], row["end_offset"]) == (
        *("forward-1-1", doubtful.topics[0], 0, 4),
    )
    planned = {each["topic"]: each["topic_id"] for each in doubtful.offsets("planned")}
    assert row["topic_id"] == planned[doubtful.topics[0]]
    assert row["reason"].startswith(f"expected topic id {row['topic_id']}, found ")


def test_a_look_records_nothing(doubtful: Installed) -> None:
    refused = refused_alike(doubtful)
    assert isinstance(refused, BatchInDoubt)
    assert "forward-1-1: committed, but" in str(refused)
    assert doubtful.offsets("doubt") == []


def test_a_spec_that_no_longer_names_the_topic_does_not_end_it(doubtful: Installed) -> None:
    doubtful.topics.pop(0)
    doubtful.write_spec()
    assert isinstance(refused_alike(doubtful), BatchInDoubt)
    with pytest.raises(BatchInDoubt):
        doubtful.settle()
    assert doubtful.offsets("committed") == []


def test_it_lasts_when_the_new_topic_is_gone_as_well(doubtful: Installed) -> None:
    with pytest.raises(BatchInDoubt):
        doubtful.settle()
    delete_topic(doubtful.bootstrap, doubtful.topics[0])
    with pytest.raises(BatchInDoubt):
        doubtful.settle()
    assert doubtful.offsets("committed") == []


def test_a_recovery_gives_it_no_receipt(doubtful: Installed) -> None:
    with pytest.raises(BatchInDoubt):
        doubtful.plan()
    shutil.rmtree(f"{doubtful.data}__offsets")
    done = doubtful.sluice("recover", "--execute", "--reason", "lost")
    assert done.returncode == 0, done.stderr
    assert "forward-1-1: committed, but" in done.stdout
    assert doubtful.offsets("committed") == []
    with pytest.raises(BatchInDoubt):
        doubtful.plan()


def test_undoing_it_as_told_leads_to_an_exact_table(doubtful: Installed) -> None:
    with pytest.raises(BatchInDoubt, match="RESTORE the data table to version 0; ") as refused:
        doubtful.plan()
    DeltaTable(doubtful.data).restore(0)
    _, reset = refused.value.moves
    done = doubtful.sluice("reset", *reset.arguments[1:], "--execute", "--reason", "read by name")
    assert done.returncode == 0, done.stderr
    doubtful.run()
    assert sorted(doubtful.ranges("committed")) == ["forward-2-1"]
    assert doubtful.judge().facts.rows == 10
    assert doubtful.sluice("verify").returncode == 0


def test_it_is_closed_by_name(doubtful: Installed) -> None:
    with pytest.raises(BatchInDoubt) as refused:
        doubtful.plan()
    closing, _ = refused.value.moves
    words = [each if each != "…" else "looked at" for each in closing.arguments[1:]]
    done = doubtful.sluice("verify", *words)
    assert done.returncode == 0, done.stderr + done.stdout
    assert {row["records"] for row in doubtful.offsets("committed")} == {4}
    with pytest.raises(ResetNeeded, match="--to-earliest --topic"):
        doubtful.plan()


def test_a_table_that_holds_one_is_not_proved_exact(doubtful: Installed) -> None:
    """Neither before it is recorded nor after; the way on is told, and nothing is written."""
    for recorded in (0, 1):
        verified = doubtful.sluice("verify")
        assert verified.returncode == 1, verified.stdout
        assert (
            f"same log: {doubtful.topics[0]}[0]: expected the log of topic id " in verified.stderr
        )
        assert "`sluice verify trips --accept-gap" in verified.stderr
        assert f"{doubtful.topics[1]}[0]: expected" not in verified.stderr
        assert len(doubtful.offsets("doubt")) == recorded
        with pytest.raises(BatchInDoubt):
            doubtful.plan()
