"""A topic is created anew: what is unread, skipped and read again counts in the new topic."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.operations.overview.find_fleet import find_fleet
from sluice.operations.overview.overview import Condition

from local.embedded.topics import create_topic
from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic, more
from tests.worlds.records import delete_topic

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

OLD, NEW = 20, 6


def answer(trips: Installed, *words: str) -> Any:
    said = trips.sluice(*words, "--json")
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


@pytest.mark.parametrize(("target", "skipped"), [("--to-earliest", 0), ("--to-latest", NEW)])
def test_all_that_tells_of_the_reset_counts_in_the_new_topic(
    topic: Topic, pipeline: Pipelines, target: str, skipped: int
) -> None:
    trips = pipeline(topic(1))
    more(trips, OLD)
    trips.run()
    before = read_truth(trips.bootstrap, trips.topics)
    delete_topic(trips.bootstrap, trips.topics[0])
    assert create_topic(trips.bootstrap, trips.topics[0], 1, {})
    more(trips, NEW)
    (unread,) = answer(trips, "status")["partitions"]
    assert (unread["cursor"], unread["lag"]) == (0, NEW)
    (glance,) = find_fleet(trips.environment).read()
    assert (glance.condition, glance.lag) == (Condition.STOPPED, NEW)
    (shown,) = answer(trips, "reset", target)["partitions"]
    assert (shown["skipped"], shown["read_again"]) == (skipped, 0)
    (done,) = answer(trips, "reset", target, "--execute", "--reason", "created anew")["partitions"]
    assert (done["skipped"], done["read_again"]) == (skipped, 0)
    told = f"({skipped} skipped, 0 read again)"
    assert told in trips.sluice("history").stdout
    assert told in trips.sluice("status").stdout
    assert answer(trips, "verify")["skipped"] == skipped
    trips.run()
    assert told in trips.sluice("history").stdout
    if not skipped:
        assert trips.judge(remembered=before, group=None).facts.rows == OLD + NEW


def test_a_second_reset_of_the_new_topic_is_one_as_any_other(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(1))
    more(trips, OLD)
    trips.run()
    delete_topic(trips.bootstrap, trips.topics[0])
    assert create_topic(trips.bootstrap, trips.topics[0], 1, {})
    more(trips, NEW)
    for target in ("--to-latest", "--to-earliest"):
        answer(trips, "reset", target, "--execute", "--reason", target)
    first, second = answer(trips, "history")["resets"]
    assert [first["partitions"][0][key] for key in ("skipped", "read_again")] == [NEW, 0]
    assert [second["partitions"][0][key] for key in ("skipped", "read_again")] == [0, NEW]
