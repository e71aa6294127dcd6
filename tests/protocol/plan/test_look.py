"""Look before you leap: what the next run would do, what Kafka holds, and nothing is written."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from sluice.errors import DataLost
from sluice.operations.outlook_text import lines_of
from sluice.protocol.plan.outlook import Estimate, Outlook

from local.embedded.broker import Broker
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, numbered, produce, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

DAY = 24 * 3_600


def seen(trips: Installed) -> Outlook:
    """What there is to see; and that looking has written nothing."""
    before = sorted(trips.warehouse.rglob("*"))
    outlook = trips.open().dry_run()
    assert sorted(trips.warehouse.rglob("*")) == before
    return outlook


def estimate(outlook: Outlook) -> Estimate:
    return outlook.basis.estimate(outlook.ranges)


def asked(trips: Installed, command: str) -> dict[str, Any]:
    done = trips.sluice(command, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_outlook_of_a_pipeline_from_its_start_to_its_next_run(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(2, retention_ms=7 * DAY * 1000)
    trips = pipeline(name, max_records_per_batch=100, max_batches_per_run=2)
    records = [b"x" * 1000] * 150
    a_day_ago = int((time.time() - DAY) * 1000)
    produce(broker.bootstrap, name, records, timestamp=a_day_ago)
    produce(broker.bootstrap, name, records[:90], 1)

    new = seen(trips)
    assert not trips.warehouse.exists()
    assert [(str(each), each.mode, each.span) for each in new.batches] == [
        ("forward-1-1", "append", 100),
        ("forward-1-2", "append", 100),
    ]
    assert (new.adopted, new.offsets, new.later, new.batches_later) == ((), 200, 40, 1)
    first = estimate(new)
    assert first.kafka_bytes == pytest.approx(200 * 1010, rel=0.05)
    assert (first.table_bytes, first.files) == (None, 4)
    old, fresh = (each.time_to_loss.total_seconds() / DAY for each in new.lags if each.time_to_loss)
    assert [old, fresh] == [pytest.approx(6, abs=0.01), pytest.approx(7, abs=0.01)]
    assert [(each.log_start_offset, each.cursor) for each in new.lags] == [(0, 0), (0, 0)]

    work = trips.plan()
    adopted = seen(trips)
    assert (adopted.adopted, adopted.planned) == (new.batches, ())
    trips.ingest(work)
    trips.settle()
    second = seen(trips)
    assert [str(each) for each in second.batches] == ["forward-1-3"]
    assert estimate(second).table_bytes
    assert estimate(second).files == 1
    trips.run()

    nothing = seen(trips)
    assert next(lines_of(nothing)).startswith("trips: nothing new: cursor at ")
    assert [each.time_to_loss for each in nothing.lags] == [None, None], "nothing to lose"
    assert trips.judge().facts.rows == 240


def test_of_a_topic_without_news_plan_says_what_status_says(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    """Also before the first run, which only notes where the pipeline begins."""
    empty, read = topic(1, retention_ms=7 * DAY * 1000), topic(1, retention_ms=7 * DAY * 1000)
    produce(broker.bootstrap, read, numbered(5))
    for name, start, cursor in ((empty, "earliest", 0), (read, "latest", 5)):
        trips = pipeline(name, start=start)
        (told,), (status,) = (asked(trips, each)["partitions"] for each in ("plan", "status"))
        assert told.pop("left_for_later") == 0
        assert told == status
        assert (told["cursor"], told["lag"], told["lag_seconds"]) == (cursor, 0, 0)
        assert "all read" in trips.sluice("plan").stdout


def test_plan_and_status_tell_what_holds_back_what_may_be_lost_and_a_start_without_effect(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(1, retention_bytes=10**9)
    trips = pipeline(name)
    produce(broker.bootstrap, name, numbered(5))
    trips.run()
    produce(broker.bootstrap, name, numbered(3, first=5))
    held = transactional(broker.bootstrap)
    held.produce(name, b"{}", partition=0)
    assert held.flush(30) == 0
    trips.write_spec(start="latest")

    plan, status = asked(trips, "plan"), asked(trips, "status")
    assert [each["ranges"][0]["end"] for each in plan["batches"]] == [8]
    assert plan["estimated"]["table_bytes"] > 0
    (partition,) = plan["partitions"]
    assert (partition["cursor"], partition["last_stable_offset"], partition["held_back"]) == (
        5,
        8,
        1,
    )
    assert partition["time_to_loss_seconds"] is None
    for notes in (plan["notes"], status["notes"]):
        assert f"{name}: time to loss is unknown: retention.bytes is set" in notes[0] + notes[1]
        assert "`start: latest` has no effect any more: the pipeline began with" in " ".join(notes)
    said = trips.sluice("plan").stdout
    for words in ("would be planned: 1 batch, 3 offsets, about", "held back by", "no effect any"):
        assert words in said
    held.abort_transaction(30)

    # What the next run would refuse, looking refuses, too.
    trips.plan()
    delete_records(broker.bootstrap, name, 7)
    with pytest.raises(DataLost, match="found the log starting at 7: 2 offsets lost"):
        trips.open().dry_run()
    trips.write_spec(on_data_loss="record")
    trips.run()
    trips.judge()
