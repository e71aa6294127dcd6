"""All pipelines together: what is wrong with one hinders no other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.errors import CommitUnknown, TooManyQuarantined
from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.find_fleet import find_fleet
from sluice.operations.overview.overview import Condition, Overview
from sluice.operations.reset.targets import to_earliest

from local.embedded.ports import free_port
from tests.worlds.command_line import run_main
from tests.worlds.next_run import refused_alike
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import add_partitions, delete_records, delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def beside(trips: Installed, name: str, old: str = "", new: str = "") -> None:
    """Another pipeline of the same folder and topic, with one piece of its spec changed."""
    spec = trips.spec_file.read_text()
    spec = spec.replace(f"pipeline: {trips.name}", f"pipeline: {name}")
    spec = spec.replace(f"table: {trips.name}", f"table: {name}")
    spec = spec.replace(trips.group, f"{trips.group}-{name}")
    assert old in spec
    (trips.spec_file.parent / f"{name}.yaml").write_text(spec.replace(old, new) if old else spec)


def at_a_glance(trips: Installed) -> Overview:
    (found,) = find_fleet(trips.environment).read()
    return found


def test_monitoring_fails_on_the_state_that_it_asks_for(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), alerts={"max_lag": "PT1S"})
    # Late, but not so old that the broker would delete them while the test runs.
    hour_ago = int((time.time() - 3600) * 1000)
    produce(trips.bootstrap, trips.topics[0], numbered(5), timestamp=hour_ago)

    def code(limit: str, *options: str) -> int:
        one = trips.sluice("status", "--fail-on", limit, *options)
        words = ["sluice", "status", "--fail-on", limit, *options]
        assert run_main(words, trips.environment, trips.folder).returncode == one.returncode
        told = "trips is behind" in one.stderr
        assert told == bool(one.returncode)
        return one.returncode

    assert [code("behind"), code("behind", "--json"), code("stopped")] == [1, 1, 0]
    trips.run()
    assert [code("behind"), code("behind", "--json"), code("stopped")] == [0, 0, 0]
    assert trips.judge().facts.rows == 5


def test_a_partition_that_was_added_is_late_before_the_next_run(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(retention_ms=3_600_000))
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    trips.run()
    add_partitions(trips.bootstrap, trips.topics[0], 2)
    produce(trips.bootstrap, trips.topics[0], numbered(3), 1)
    found = at_a_glance(trips)
    assert found.lag == 3
    assert found.age is not None
    assert found.age.total_seconds() > 0
    assert found.time_to_loss is not None
    assert 0 < found.time_to_loss.total_seconds() <= 3600
    (_, added) = json.loads(trips.sluice("status", "--json").stdout)["partitions"]
    assert (added["cursor"], added["lag"]) == (0, 3)
    trips.run()
    assert at_a_glance(trips).lag == 0
    assert trips.judge().facts.rows == 8


def test_a_topic_that_the_spec_no_longer_names_is_not_unknown_for_ever(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), topic())
    for each in trips.topics:
        produce(trips.bootstrap, each, numbered(5))
    trips.run()
    trips.write_spec(topics=trips.topics[:1])
    produce(trips.bootstrap, trips.topics[0], numbered(2))
    assert at_a_glance(trips).lag == 2
    trips.run()
    assert at_a_glance(trips).lag == 0
    trips.judge()


def test_batches_of_one_plan_wait_since_the_last_of_them_landed(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), max_records_per_batch=5)
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    trips.run()
    produce(trips.bootstrap, trips.topics[0], numbered(10))
    began = datetime.now(UTC)
    work = trips.plan()
    planned = at_a_glance(trips).progress
    trips.ingest(work.first(1))
    landed = at_a_glance(trips).progress
    assert planned is not None
    assert landed is not None
    assert planned.overdue is None
    assert landed.overdue is not None
    assert str(landed.overdue.batch) == "forward-1-2"
    assert planned.waiting_since is not None
    assert landed.waiting_since is not None
    assert began < planned.waiting_since < landed.waiting_since < datetime.now(UTC)
    trips.run()
    after = at_a_glance(trips).progress
    assert after is not None
    assert (after.waiting_since, after.overdue) == (None, None)
    trips.judge()


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


def absent(trips: Installed) -> None:
    trips.write_spec(topics=["not-there"])


def unmatched(trips: Installed) -> None:
    trips.write_spec(topic_pattern="zzz.*")


def not_mounted(trips: Installed) -> None:
    trips.given["SLUICE_WAREHOUSE_NAME"] = "lake"


def deleted(trips: Installed) -> None:
    trips.run()
    delete_topic(trips.bootstrap, trips.topics[0])


def expired(trips: Installed) -> None:
    trips.run()
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    delete_records(trips.bootstrap, trips.topics[0], 8)


def expired_behind_its_plan(trips: Installed) -> None:
    trips.plan()
    delete_records(trips.bootstrap, trips.topics[0], 3)


def append_only_behind_a_reset(trips: Installed) -> None:
    trips.run()
    trips.open().reset(to_earliest, "once more", "run", "pytest")
    DeltaTable(trips.data).alter.set_table_properties({"delta.appendOnly": "true"})


@pytest.mark.parametrize(
    ("becomes", "said"),
    [
        (absent, "not-there"),
        (unmatched, "matches 'zzz.*'"),
        (not_mounted, "SLUICE_WAREHOUSE_NAME: expected the marker"),
        (deleted, "a log to go on with at 5, found no such partition"),
        (expired, "expected to go on at 5, found the log starting at 8"),
        (expired_behind_its_plan, "expected to go on at 0, found the log starting at 3"),
        (append_only_behind_a_reset, "delta.appendOnly = 'true'"),
    ],
)
def test_one_and_all_say_the_same_of_a_run_that_is_refused(
    topic: Topic, pipeline: Pipelines, becomes: Callable[[Installed], None], said: str
) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    becomes(trips)
    assert said in str(refused_alike(trips))


@pytest.mark.parametrize("keys", [{"topics": ["not-there"]}, {"topic_pattern": "zzz.*"}])
def test_a_new_pipeline_without_its_topic_has_no_lag(
    topic: Topic, pipeline: Pipelines, keys: dict[str, Any]
) -> None:
    trips = pipeline(topic())
    trips.write_spec(**keys)
    found = at_a_glance(trips)
    assert (found.condition, found.lag, found.age) == (Condition.STOPPED, None, None)
    refused = trips.sluice("plan")
    assert (refused.returncode, found.reason in refused.stderr) == (1, True)


def test_a_start_that_another_system_does_not_answer_hinders_no_other(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    elsewhere = "version: 1\nstart: {delta_ingest: {table: 's3://nowhere-bucket/x'}}"
    beside(trips, "moved", "version: 1", elsewhere)
    found = {each.spec.pipeline: each for each in find_fleet(trips.environment).read()}
    assert found["trips"].lag == 5
    assert found["moved"].condition is not Condition.FRESH
    assert "s3://nowhere-bucket/x" in found["moved"].reason


@pytest.mark.spark
def test_an_empty_newest_commit_is_no_commit_whatever_lies_beside_it(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    for _ in range(2):
        produce(trips.bootstrap, trips.topics[0], numbered(5))
        trips.run()
    newest = max((trips.data / "_delta_log").glob("*.json"))
    whole = newest.read_bytes()
    newest.write_bytes(b"")
    assert newest.with_suffix(".crc").exists() or (newest.parent / f".{newest.name}.crc").exists()
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    with pytest.raises(CommitUnknown, match=f"{newest.name} is empty"):
        trips.plan()
    assert at_a_glance(trips).condition is Condition.UNKNOWN
    newest.write_bytes(whole)
    trips.run()
    assert trips.judge().facts.rows == 15


STRICT = {"type": "json", "schema": "at DATE"}


def test_a_share_in_quarantine_counts_what_is_there_now(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(
        topic(), format=STRICT, quarantine={"max_ratio": 1}, alerts={"max_quarantine": 0.1}
    )
    produce(trips.bootstrap, trips.topics[0], [b'{"at": "2013-01-01"}', b'{"at": 1}'])
    trips.run()
    (call,) = breaches(at_a_glance(trips))
    assert "found 50.000% in forward-1-1: `sluice quarantine list trips`" in call.text
    dropped = trips.process("quarantine drop", "--all", "--execute", "--reason", "junk")
    assert dropped.returncode == 0, dropped.stderr
    assert breaches(at_a_glance(trips)) == []
    trips.judge(dropped=frozenset({(0, 1)}))


def test_a_batch_that_cannot_land_for_undecodable_records_is_stopped(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=STRICT, quarantine={"max_ratio": 0.1, "max_records": 0})
    produce(trips.bootstrap, trips.topics[0], [b'{"at": "2013-01-01"}', b'{"at": 1}'])
    with pytest.raises(TooManyQuarantined):
        trips.run()
    found = at_a_glance(trips)
    assert found.condition is Condition.STOPPED
    assert "1 of 2 records are undecodable; allowed: 10.00%" in found.reason
    assert found.reason in trips.sluice("status").stdout
    trips.write_spec(quarantine={"max_ratio": 1})
    assert at_a_glance(trips).condition is Condition.FRESH
    assert "undecodable" not in trips.sluice("status").stdout
    trips.run()
    trips.judge()
