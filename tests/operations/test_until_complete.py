"""Until when a table is complete, where something is amiss: nothing says more than is proven."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import BatchInDoubt, GapUnexplained, ResetNeeded, SluiceError
from sluice.operations.backfill.selection import whole_batches
from sluice.operations.overview.find_fleet import find_fleet
from sluice.operations.run_summary import summarize_settlement
from sluice.operations.until_complete import known_until
from sluice.progress.lane_state import read_unchecked
from sluice.protocol.settle.announce import announce, read_announced
from sluice.protocol.settle.write_receipts import Settlement
from sluice.tables.batch_commits import batch_metadata

from local.embedded.broker import Broker
from tests.oracle import read_truth
from tests.protocol.plan.test_log_changes import lose_the_log
from tests.worlds.batch_in_doubt import batch_in_doubt
from tests.worlds.left_out import land_without
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more
from tests.worlds.records import add_partitions, delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

Moment = datetime | None


def recorded(trips: Installed, batch: str = "forward-1-1") -> datetime:
    found: datetime = next(e for e in trips.offsets("committed") if e["batch"] == batch)[
        "complete_until"
    ]
    return found


def by_status(trips: Installed) -> Moment:
    found: dict[str, Any] = json.loads(trips.sluice("status", "--json").stdout)
    until = found["complete_until"]
    return until and datetime.fromisoformat(until)


def at_a_glance(trips: Installed) -> Moment:
    (found,) = find_fleet(trips.environment).read()
    return found.complete_until


def by_sensor(trips: Installed) -> Moment | type[SluiceError]:
    try:
        return known_until(trips.open().resources, datetime.now(UTC))
    except SluiceError as problem:
        return type(problem)


def all_say(trips: Installed, expected: Moment, sensor: object = ...) -> None:
    assert by_status(trips) == expected
    assert at_a_glance(trips) == expected
    assert by_sensor(trips) == (expected if sensor is ... else sensor)


def says_the_present(say: Callable[[Installed], object], trips: Installed) -> bool:
    before = datetime.now(UTC)
    found = say(trips)
    return isinstance(found, datetime) and before < found


def test_a_batch_that_lacks_a_record_does_not_count(topic: Topic, pipeline: Pipelines) -> None:
    trips = landed(pipeline(topic()), batches=1)
    before = recorded(trips)
    more(trips, 10, 10)
    truth = read_truth(trips.bootstrap, trips.topics)
    land_without(trips, trips.plan(), 15, truth)
    all_say(trips, before)
    with pytest.raises(GapUnexplained):
        trips.settle()
    all_say(trips, before)


def test_a_replacement_that_took_a_row_leaves_nothing_proven(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic()), batches=1)
    trips.open().backfill(whole_batches(["forward-1-1"]), "test", "pytest")
    batch = read_unchecked(trips.open().resources, "backfill").history.batch(1)
    table = DeltaTable(trips.data)
    rows = table.to_pyarrow_table().filter(pc.field("_offset") != 5)
    named = pa.array([str(batch)] * len(rows))
    rows = rows.set_column(rows.schema.get_field_index("_batch"), "_batch", named)
    said = {"userMetadata": batch_metadata(batch, "faulty")}
    by = CommitProperties(said, app_transactions=[Transaction(batch.sequence.app_id, 1)])
    write_deltalake(table, rows, mode="overwrite", predicate="true", commit_properties=by)
    all_say(trips, None)


def test_a_batch_in_doubt_does_not_count(topic: Topic, pipeline: Pipelines) -> None:
    trips = batch_in_doubt(topic, pipeline)
    with pytest.raises(BatchInDoubt):
        trips.settle()
    assert (by_status(trips), at_a_glance(trips)) == (None, None)
    assert by_sensor(trips) is BatchInDoubt


def test_an_event_speaks_of_the_versions_that_it_names(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    more(trips, 5)
    work = trips.plan()
    trips.ingest(work)
    resources = trips.open().resources
    before = read_announced(resources, (), work)
    trips.settle()
    more(trips, 5, 5)
    trips.ingest(trips.plan())
    said = announce(resources, before).as_dict()
    assert [each["batch"] for each in said["batches"]] == ["forward-1-1"]
    assert datetime.fromisoformat(said["complete_until"]) == recorded(trips)


def test_a_log_that_has_grown_again_to_the_cursor_is_not_read(
    own_broker: Broker, own_topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(own_topic())
    trips.bootstrap = own_broker.bootstrap
    landed(trips, batches=1)
    own_broker.stop()
    lose_the_log(own_broker.folder, trips.topics[0])
    own_broker.start()
    more(trips, 10, 100)
    all_say(trips, recorded(trips), ResetNeeded)
    note = summarize_settlement(trips.open().resources, Settlement())
    assert "complete until" not in str(note["said"])


def test_a_topic_created_anew_with_the_same_end_is_not_read(
    topic: Topic, pipeline: Pipelines
) -> None:
    name = topic()
    trips = landed(pipeline(name), batches=1)
    delete_topic(trips.bootstrap, name)
    topic(name=name)
    more(trips, 10)
    all_say(trips, recorded(trips), ResetNeeded)
    note = summarize_settlement(trips.open().resources, Settlement())
    assert "complete until" not in str(note["said"])


def test_what_others_took_from_the_quarantine_is_neither_complete_nor_gone(
    topic: Topic, pipeline: Pipelines
) -> None:
    form = {"type": "json", "schema": "id INT"}
    trips = pipeline(topic(), format=form, alerts={"max_waiting": 0})
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 1}', b"junk", b"junk"])
    trips.run()
    DeltaTable(trips.warehouse / "trips__quarantine").delete()
    (found,) = find_fleet(trips.environment).read()
    assert (found.complete_until, found.waiting) == (None, None)
    status = json.loads(trips.sluice("status", "--json").stdout)
    assert (status["complete_until"], status["quarantine"]) == (None, None)
    assert "found unknown" in status["breaches"]["max_waiting"]


def test_a_row_without_a_reason_is_shown(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format={"type": "json", "schema": "id INT"})
    produce(trips.bootstrap, trips.topics[0], [b"junk", b"junk"])
    trips.run()
    table = DeltaTable(trips.warehouse / "trips__quarantine")
    table.update(predicate="_offset = 1", updates={"error": "NULL"})
    assert trips.sluice("status").returncode == 0
    (found,) = find_fleet(trips.environment).read()
    assert found.waiting in (2, None)


@pytest.mark.parametrize("what", ["partition", "topic"])
def test_what_is_new_and_empty_keeps_no_table_incomplete(
    topic: Topic, pipeline: Pipelines, what: str
) -> None:
    trips = landed(pipeline(topic()), batches=1)
    if what == "partition":
        add_partitions(trips.bootstrap, trips.topics[0], 2)
        for say in (by_status, at_a_glance, by_sensor):
            assert says_the_present(say, trips)
        more(trips, 1, partition=1)
    else:
        trips.write_spec(topics=[*trips.topics, topic()])
        for say in (by_status, at_a_glance, by_sensor):
            assert says_the_present(say, trips)


def test_partitions_of_a_former_topic_keep_no_table_incomplete(
    topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(3)
    trips = landed(pipeline(name), batches=1)
    delete_topic(trips.bootstrap, name)
    topic(1, name=name)
    more(trips, 5)
    reset = trips.sluice("reset", "--to-earliest", "--execute", "--reason", "created anew")
    assert reset.returncode == 0
    trips.run()
    for say in (by_status, at_a_glance, by_sensor):
        assert says_the_present(say, trips)


def test_a_topic_that_is_named_again_makes_the_moment_unknown(
    topic: Topic, pipeline: Pipelines
) -> None:
    """Its records are older than the moment, and behind the batch."""
    stays, returns = topic(), topic()
    trips = pipeline(stays, returns, max_records_per_batch=10, max_batches_per_run=1)
    for name in trips.topics:
        produce(trips.bootstrap, name, numbered(2))
    trips.run()
    trips.write_spec(topics=[stays])
    produce(trips.bootstrap, returns, numbered(50))
    produce(trips.bootstrap, stays, numbered(2))
    trips.run()
    assert says_the_present(by_status, trips)
    trips.write_spec(topics=[stays, returns])
    all_say(trips, None)
    trips.ingest(trips.plan())
    trips.settle()
    assert trips.offsets("committed")[-1]["complete_until"] is None
    all_say(trips, None)
    trips.run()
    assert says_the_present(by_sensor, trips)
    trips.judge()


def test_a_pattern_that_matches_nothing_proves_nothing(topic: Topic, pipeline: Pipelines) -> None:
    trips = landed(pipeline(topic()), batches=1)
    trips.write_spec(topic_pattern="no-such-.*")
    more(trips, 5, 10)
    all_say(trips, None)
