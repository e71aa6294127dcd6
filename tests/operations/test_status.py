"""`sluice status` of one pipeline: how many records its last batch left out."""

from __future__ import annotations

import json

import pytest

from tests.worlds.pipelines import Pipelines, Topic, more

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
