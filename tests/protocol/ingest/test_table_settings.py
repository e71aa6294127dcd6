"""Table settings: properties, comments and file sizes are those of the spec, now and later."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.lake.session import files_conf
from sluice.operations.backfill.selection import offset_ranges
from sluice.tables.stored_settings import stored_settings
from sluice.tables.table_files import open_table

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

NUMBERS = {"type": "json", "schema": "id BIGINT, city STRING"}


def files(trips: Installed) -> set[str]:
    return set(DeltaTable(trips.data).file_uris()) if trips.version() is not None else set()


def last_operations(trips: Installed, count: int) -> list[str]:
    return [each["operation"] for each in DeltaTable(trips.data).history(limit=count)]


def test_properties_and_comments_are_there_from_the_start_and_follow_the_spec(
    topic: Topic, pipeline: Pipelines
) -> None:
    comments = {"id": "the trip's number", "_batch": "which batch wrote it", "_day": "of its time"}
    keys: dict[str, Any] = {"format": NUMBERS, "derived": {"_day": "CAST(_timestamp AS DATE)"}}
    properties = {"delta.logRetentionDuration": "interval 40 days"}
    trips = pipeline(topic(), **keys, comments=comments, properties=properties)
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    found = stored_settings(open_table(str(trips.data)))
    assert {name: text for name, text in found.comments.items() if text} == comments
    assert found.properties["delta.logRetentionDuration"] == "interval 40 days"
    assert trips.version() == 1
    changed = {"delta.logRetentionDuration": "interval 50 days", "delta.checkpointInterval": 20}
    trips.write_spec(
        properties=changed,
        comments={**comments, "city": 'the "town"'},
        derived={"_day": "DATE '2026-01-01'"},
    )
    told = trips.sluice("plan").stdout.splitlines()
    promised = [" ".join(each.split()) for each in told if "the table's" in each]
    assert sorted(promised) == [
        'the comment of the table\'s column city becomes "the \\"town\\""',
        "the table's property delta.checkpointInterval becomes 20",
        "the table's property delta.logRetentionDuration becomes interval 50 days, from interval"
        " 40 days",
    ]
    assert any("since batch forward-1-1, in derived._day:" in each for each in told)
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    found = stored_settings(open_table(str(trips.data)))
    assert found.comments["city"] == 'the "town"'
    assert found.comments["id"] == "the trip's number"
    assert found.properties["delta.logRetentionDuration"] == "interval 50 days"
    assert found.properties["delta.checkpointInterval"] == "20"
    assert found.properties["sluice.pipeline"] == trips.name
    assert last_operations(trips, 3) == ["WRITE", "CHANGE COLUMN", "SET TBLPROPERTIES"]
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    assert last_operations(trips, 2) == ["WRITE", "WRITE"]
    assert trips.judge().facts.rows == 9
    assert trips.sluice("verify").returncode == 0


def test_after_settings_have_changed_offsets_are_read_again_and_the_pipeline_is_reset(
    topic: Topic, pipeline: Pipelines
) -> None:
    """A change of settings removes no rows: nobody asks whether to bring some back."""
    trips = pipeline(topic(), properties={"delta.enableChangeDataFeed": True})
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    trips.run()
    trips.write_spec(properties={"delta.enableChangeDataFeed": True, "delta.checkpointInterval": 5})
    produce(trips.bootstrap, trips.topics[0], numbered(5))
    trips.run()
    asked = offset_ranges([f"{trips.topics[0]}[0] [0, 7)"])
    trips.ingest(trips.open().backfill(asked, "test", "test").work)
    trips.settle()
    done = trips.sluice("reset", "--shift-by", "-3", "--execute", "--reason", "test")
    assert done.returncode == 0, done.stderr
    trips.run()
    assert trips.judge().facts.rows == 10
    read = trips.session().read.format("delta").option("readChangeFeed", "true")
    changes = read.option("startingVersion", 0).load(str(trips.data))
    kinds = {
        row["_change_type"]: row["count"]
        for row in changes.groupBy("_change_type").count().collect()
    }
    assert kinds["insert"] - kinds["delete"] == 10


def test_a_partition_of_the_table_gets_one_file_of_a_batch_not_one_of_each_task(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(4), format=NUMBERS, partition_by=["city"])

    def files_of_a_batch() -> int:
        before = files(trips)
        for partition in range(4):
            values = [json.dumps({"id": n, "city": f"c{n % 6}"}).encode() for n in range(60)]
            produce(trips.bootstrap, trips.topics[0], values, partition=partition)
        trips.run()
        return len(files(trips) - before)

    # The tests' session is not of this spec.
    session = trips.session()
    assert files_of_a_batch() == 4 * 6
    for key, value in files_conf(trips.open().resources.spec).items():
        session.conf.set(key, value)
    try:
        assert files_of_a_batch() == 6
    finally:
        for key in files_conf(trips.open().resources.spec):
            session.conf.unset(key)
    assert trips.judge().facts.rows == 480
