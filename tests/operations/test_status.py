"""`sluice status` of one pipeline: how it is, and what its last batch left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sluice.operations.reset.targets import to_earliest

from tests.worlds.pipelines import Pipelines, Topic, more
from tests.worlds.records import delete_topic, produce_at

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def test_an_only_that_matches_nothing_is_seen(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(2), only={"header": "kind", "value": "ordr"})
    for partition in range(2):
        more(trips, 600, partition=partition)
    trips.run()
    line = "forward-1-1: 0 records, 0 quarantined, 1,200 filtered (left out by `only`)"
    assert line in trips.sluice("status").stdout.splitlines()
    assert json.loads(trips.sluice("status", "--json").stdout)["last_batch_filtered"] == 1200
    trips.write_spec(only=None)
    more(trips, 3)
    trips.run()
    assert "filtered" not in trips.sluice("status").stdout + trips.sluice("status", "--json").stdout


def test_one_pipeline_says_how_it_is_and_which_limits_it_exceeds(
    topic: Topic, pipeline: Pipelines
) -> None:
    """The same as at a glance: who looks at one pipeline must not miss what calls a person."""
    trips = pipeline(topic(1), alerts={"max_lag": "PT30M", "max_silence": "PT2H"})
    more(trips, 5)
    trips.run()
    title, *_ = trips.sluice("status").stdout.splitlines()
    assert title.split() == ["trips:", "fresh,", "generation", "1,", "last", "batch", "forward-1-1"]
    hours_ago = datetime.now(UTC) - timedelta(hours=3)
    produce_at(trips.bootstrap, trips.topics[0], [int(hours_ago.timestamp() * 1000)])
    title, *said = trips.sluice("status").stdout.splitlines()
    assert title.startswith("trips: behind, generation 1")
    (reason,) = [each for each in said if each.startswith("behind: the oldest unread record is 3:")]
    (limit,) = [each for each in said if each.startswith("alerts.max_lag: expected unread records")]
    found = json.loads(trips.sluice("status", "--json").stdout)
    assert found["condition"] == "behind"
    assert found["reason"].startswith(reason.removeprefix("behind: ").partition(" 3:")[0])
    assert found["breaches"].keys() == {"max_lag"}
    assert found["breaches"]["max_lag"][:40] in limit


def test_why_one_pipeline_is_stopped_is_said_once(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(1))
    more(trips, 5)
    trips.run()
    delete_topic(trips.bootstrap, trips.topics[0])
    shown = trips.sluice("status").stdout
    assert shown.startswith("trips: stopped, generation 1")
    assert shown.count("no such partition") == 1


def test_what_a_reset_reads_again_is_told_from_what_was_never_read(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(1), alerts={"max_lag": "PT30M"})
    hours_ago = datetime.now(UTC) - timedelta(hours=3)
    produce_at(trips.bootstrap, trips.topics[0], [int(hours_ago.timestamp() * 1000)])
    again = "it was read before, and a reset reads it again"
    shown = trips.sluice("status").stdout
    assert "trips: behind" in shown
    assert again not in shown
    trips.run()
    trips.open().reset(to_earliest, "a mended schema", "test", "pytest")
    shown = trips.sluice("status").stdout
    assert "trips: behind" in shown
    assert again in shown
    trips.run()
    assert "trips: fresh" in trips.sluice("status").stdout
