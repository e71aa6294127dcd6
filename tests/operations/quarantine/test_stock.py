"""The quarantine as a stock: what waits is seen until it is replayed, dropped or read again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.find_fleet import find_fleet
from sluice.operations.overview.overview import Overview

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "id BIGINT"}
GOOD, TEXT, CUT = b'{"id": 1}', b'{"id": "one"}', b'{"id": '


def send(trips: Installed, *values: bytes) -> None:
    produce(trips.bootstrap, trips.topics[0], values)
    trips.run()


def glance(trips: Installed) -> Overview:
    (found,) = find_fleet(trips.environment).read()
    return found


def stock(trips: Installed) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(trips.sluice("status", "--json").stdout)["quarantine"]
    return found


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    found = pipeline(topic(), format=FORM, quarantine={"max_ratio": 1}, alerts={"max_waiting": 0})
    send(found, GOOD, TEXT, TEXT, CUT)
    send(found, GOOD)
    return found


def test_records_of_earlier_batches_are_counted_and_called_for(trips: Installed) -> None:
    found = glance(trips)
    assert (found.waiting, found.quarantined) == (3, 0)
    (breach,) = breaches(found)
    assert breach.limit == "max_waiting"
    assert "expected at most 0 records waiting in quarantine, found 3 records: " in breach.text
    assert "id: expected BIGINT, found '…' (2); " in breach.text
    trips.write_spec(alerts={"max_waiting": 3})
    assert breaches(glance(trips)) == []
    trips.judge()


def test_status_shows_why_they_wait_with_a_sample_of_each_reason(trips: Installed) -> None:
    found = stock(trips)
    first, second = found["reasons"]
    assert (found["records"], first["records"], second["records"]) == (3, 2, 1)
    assert (first["sample"]["offset"], first["sample"]["value"]) == (2, '{"id": "one"}')
    told = trips.sluice("status").stdout
    assert "in quarantine: 3 records, the first since " in told
    assert f'(2), such as {trips.topics[0]}[0]@2: {{"id": "one"}}' in told
    for command in ("list trips", "replay trips --all", "drop trips --all"):
        assert f"`sluice quarantine {command}`" in told


def test_what_is_dropped_waits_no_more(trips: Installed) -> None:
    """By the command that `status` names."""
    consent = ("--execute", "--reason", "cut off")
    dropped = trips.process("quarantine drop", "--reason-like", "not one", *consent)
    assert dropped.returncode == 0, dropped.stderr
    assert (glance(trips).waiting, stock(trips)["records"]) == (2, 2)
    assert trips.process("quarantine drop", "--all", *consent).returncode == 0
    assert (glance(trips).waiting, stock(trips)["records"]) == (0, 0)
    assert "in quarantine" not in trips.sluice("status").stdout
    trips.judge(dropped=frozenset({(0, 1), (0, 2), (0, 3)}))


def test_a_fleet_reads_a_table_again_only_once_it_has_changed(trips: Installed) -> None:
    fleet = find_fleet(trips.environment)
    (first,), (second,) = fleet.read(), fleet.read()
    assert first.progress
    assert second.progress
    assert second.progress.waiting is first.progress.waiting
    send(trips, CUT)
    (third,) = fleet.read()
    assert third.waiting == 4
