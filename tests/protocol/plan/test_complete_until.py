"""Complete until: what the offsets table records, and what is known where nothing new comes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.operations.backfill.selection import whole_batches

from tests.worlds.command_line import run_main
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more
from tests.worlds.records import delete_topic

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def recorded(trips: Installed, event: str = "committed") -> dict[str, datetime | None]:
    """By batch; all rows of a batch say the same."""
    found: dict[str, set[datetime | None]] = {}
    for row in trips.offsets(event):
        found.setdefault(row["batch"], set()).add(row["complete_until"])
    assert all(len(each) == 1 for each in found.values())
    return {batch: moments.pop() for batch, moments in found.items()}


def status(trips: Installed) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(trips.sluice("status", "--json").stdout)
    return found


def until(trips: Installed) -> datetime | None:
    found = status(trips)["complete_until"]
    return found and datetime.fromisoformat(found)


def known(trips: Installed) -> datetime:
    found = until(trips)
    assert found is not None
    return found


def test_every_row_of_a_batch_and_its_receipt_say_until_when_the_table_is_complete(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(3), max_records_per_batch=10)
    before = datetime.now(UTC)
    more(trips, 15)
    more(trips, 10, partition=1)
    asked = datetime.now(UTC)
    trips.run()
    first, second, third = recorded(trips).values()
    assert (first, second) == (None, None)
    assert third is not None
    assert before < asked < third < datetime.now(UTC)
    assert third < trips.offsets("planned")[-1]["recorded_at"]
    assert recorded(trips, "planned") == recorded(trips)
    more(trips, 11)
    trips.run()
    *_, fourth, fifth = recorded(trips).values()
    assert fourth == third
    assert fifth is not None
    assert fifth > third
    (newest, *_) = reversed(json.loads(trips.sluice("history", "--json").stdout)["batches"])
    assert datetime.fromisoformat(newest["complete_until"]) == fifth
    shown = trips.sluice("history", "--batch", "forward-1-5").stdout
    assert f"complete until {fifth:%Y-%m-%d %H:%M:%S} UTC" in shown
    trips.judge()


def test_a_plan_that_is_adopted_keeps_its_moment(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    more(trips, 4)
    work = trips.plan()
    (planned,) = recorded(trips, "planned").values()
    more(trips, 3)
    assert trips.plan() == work
    assert until(trips) is None
    trips.ingest(work)
    assert until(trips) is None, "it is not accounted for yet"
    trips.settle()
    assert recorded(trips) == {"forward-1-1": planned}
    assert until(trips) == planned
    trips.judge(caught_up=False)


def test_where_nothing_new_comes_the_table_is_complete_until_now(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(2)), batches=1)
    (first,) = recorded(trips).values()
    assert first is not None
    asked = datetime.now(UTC)
    assert asked < known(trips) < datetime.now(UTC)
    assert f"complete until: {datetime.now(UTC):%Y-%m-%d %H:%M}" in trips.sluice("status").stdout
    more(trips, 1, 10, partition=1)
    assert until(trips) == first
    assert not trips.offsets("planned")[2:]
    trips.run()
    trips.judge()


def test_a_generation_of_a_reset_is_complete_once_it_has_reached_the_end_again(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(), max_records_per_batch=10, max_batches_per_run=1))
    assert until(trips) is not None
    done = trips.sluice("reset", "--to-earliest", "--execute", "--reason", "again")
    assert done.returncode == 0
    assert until(trips) is None
    trips.plan()
    assert recorded(trips, "planned")["forward-2-1"] is None
    assert "complete until: unknown" in trips.sluice("status").stdout
    trips.run()
    assert recorded(trips)["forward-2-1"] is None
    assert known(trips) >= recorded(trips)["forward-2-2"]  # type: ignore[operator]
    trips.judge()


def test_a_reading_of_older_offsets_says_nothing(topic: Topic, pipeline: Pipelines) -> None:
    trips = landed(pipeline(topic()))
    work = trips.open().backfill(whole_batches(["forward-1-1"]), "test", "pytest").work
    trips.ingest(work)
    trips.settle()
    assert recorded(trips)["backfill-1-1"] is None
    assert until(trips) is not None
    trips.judge()


def test_a_table_that_others_have_restored_is_complete_until_an_unknown_moment(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic()))
    DeltaTable(trips.data).restore(0)
    assert until(trips) is None
    words = ["sluice", "status", "--json"]
    (row,) = json.loads(run_main(words, trips.environment, trips.folder).stdout)["pipelines"]
    assert (row["state"], row["complete_until"]) == ("stopped", None)


def test_a_topic_that_was_created_anew_is_not_taken_for_one_that_is_read(
    topic: Topic, pipeline: Pipelines
) -> None:
    """It ends where the former one did, and its records are unread."""
    name = topic()
    trips = landed(pipeline(name), batches=1)
    (first,) = recorded(trips).values()
    delete_topic(trips.bootstrap, name)
    topic(name=name)
    more(trips, 10)
    assert until(trips) == first
    assert status(trips)["notes"]
