"""All pipelines together: what is wrong with one hinders no other."""

from __future__ import annotations

import json

import pytest
from sluice.pipeline import find_fleet

from local.embedded.ports import free_port
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def beside(trips: Installed, name: str, old: str = "", new: str = "") -> None:
    """Another pipeline of the same folder and topic, with one piece of its spec changed."""
    spec = trips.spec_file.read_text()
    spec = spec.replace(f"pipeline: {trips.name}", f"pipeline: {name}")
    spec = spec.replace(f"table: {trips.name}", f"table: {name}")
    spec = spec.replace(trips.group, f"{trips.group}-{name}")
    assert old in spec
    (trips.spec_file.parent / f"{name}.yaml").write_text(spec.replace(old, new) if old else spec)


def test_what_is_wrong_with_one_pipeline_hinders_no_other(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    trips.run()
    beside(trips, "alone")
    beside(trips, "unstarted", "version: 1", "version: 1\nstart: {group: nobody}")
    beside(trips, "away", "version: 1", "version: 1\nkafka: kafka_away")
    beside(trips, "undefined", "version: 1", "version: 1\nkafka: nowhere")
    (trips.warehouse / "broken__offsets" / "_delta_log").mkdir(parents=True)
    (trips.warehouse / "broken__offsets" / "_delta_log" / f"{0:020d}.json").write_text("{")
    beside(trips, "broken")
    away = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    connection = json.dumps({"conn_type": "kafka", "extra": away})
    fleet = find_fleet({**trips.environment, "AIRFLOW_CONN_KAFKA_AWAY": connection})
    found = {each.spec.pipeline: each for each in fleet.read()}
    assert {name: each.lag for name, each in found.items()} == {
        "alone": 5,
        "away": None,
        "broken": None,
        "trips": 0,
        "undefined": None,
        "unstarted": None,
    }
    assert "nobody" in found["unstarted"].reason
    assert away["bootstrap.servers"] in found["away"].reason
    assert "AIRFLOW_CONN_NOWHERE" in found["undefined"].reason
    assert "broken__offsets" in found["broken"].reason
    trips.judge()
