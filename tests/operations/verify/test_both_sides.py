"""`sluice verify` begins with the identity of both sides, and says what it could not compare."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.operations.reset.targets import to_earliest

from local.embedded.broker import Broker
from tests.operations.verify.test_accepted_gaps import lose_the_middle, trips
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed
from tests.worlds.records import (
    delete_records,
    delete_topic,
    end,
    numbered,
    produce,
    send,
    transactional,
)

pytestmark = [pytest.mark.integration, pytest.mark.deciding]
__all__ = ["trips"]


def told(trips: Installed, code: int = 0) -> dict[str, Any]:
    done = trips.sluice("verify", "--json")
    assert done.returncode == code, done.stderr + done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_of_a_deleted_topic_nothing_is_called_proved(topic: Topic, pipeline: Pipelines) -> None:
    made = landed(pipeline(topic()), batches=1)
    whole = told(made)
    assert (whole["not_compared_with_kafka"], whole["unknown"]) == ([], [])
    delete_topic(made.bootstrap, made.topics[0])
    answer = told(made)
    assert (answer["exact"], answer["compared"]) == (True, 0)
    (left,) = answer["not_compared_with_kafka"]
    assert (left["rows"], left["why"]) == (10, "Kafka no longer has this topic")
    assert answer["unknown"] == ["same log", "complete", "no phantom"]
    lines = made.sluice("verify").stdout.splitlines()
    assert sum(each.startswith("  holds") for each in lines) == 3
    assert sum(each.startswith("  unknown") for each in lines) == 3
    assert any(f"not compared: 10 rows of topic {made.topics[0]}" in each for each in lines)


def test_rows_below_the_log_start_are_counted(topic: Topic, pipeline: Pipelines) -> None:
    made = landed(pipeline(topic()), batches=1)
    delete_records(made.bootstrap, made.topics[0], before=4)
    answer = told(made)
    assert (answer["compared"], answer["below_log_start"]) == (6, 4)
    assert "not compared: 4 rows below the log start" in made.sluice("verify").stdout


def test_rows_of_a_segment_that_kafka_has_lost_since_are_held_by_the_table_only(
    trips: Installed, own_broker: Broker
) -> None:
    trips.run()
    lose_the_middle(own_broker, trips.topics[0])
    answer = told(trips)
    assert (answer["exact"], answer["compared"], answer["held_by_table_only"]) == (True, 10, 5)
    assert "held by the table only: 5 rows" in trips.sluice("verify").stdout


@pytest.mark.parametrize("keys", [{}, {"only": {"header": "h", "value": "a"}}], ids=["all", "only"])
def test_rows_whose_records_were_compacted_away_are_counted(
    topic: Topic, pipeline: Pipelines, keys: dict[str, Any]
) -> None:
    made = pipeline(topic(**COMPACTED), **keys)
    for number in range(6):
        key, headers = b"k%d" % (number // 2), [("h", b"a" if number < 4 else b"b")]
        produce(made.bootstrap, made.topics[0], numbered(1, number), key=key, headers=headers)
    made.run()
    assert told(made)["compacted_away"] == 0
    compact(made.bootstrap, made.topics)
    answer = told(made)
    assert answer["exact"]
    # Of each key the newer record is left; two of the three rows that are gone are of this kind.
    rows = 2 if keys else 3
    assert (answer["compared"], answer["compacted_away"]) == (3, rows)
    lines = made.sluice("verify").stdout
    assert f"not compared: {rows} rows whose records Kafka has compacted away" in lines


def test_a_log_that_was_replaced_by_another_copy_is_not_the_one_that_was_read(
    own_broker: Broker, own_topic: Topic, pipeline: Pipelines
) -> None:
    made = pipeline(own_topic())
    made.bootstrap = own_broker.bootstrap
    own_broker.stop()
    copy = own_broker.folder / "copy"
    data = own_broker.folder / "data"
    data.rename(copy)
    shutil.copytree(copy, data)
    own_broker.start()
    produce(made.bootstrap, made.topics[0], numbered(10))
    made.run()
    own_broker.stop()
    data.rename(own_broker.folder / "newer")
    copy.rename(data)
    own_broker.start()
    produce(made.bootstrap, made.topics[0], numbered(20, 100))
    answer = told(made, code=1)
    assert {each["invariant"] for each in answer["violations"]} == {"same log"}
    (left,) = answer["not_compared_with_kafka"]
    assert (left["rows"], left["why"]) == (10, "Kafka has another log than the one that was read")
    assert any("`sluice reset trips --to-earliest --topic" in each for each in answer["advice"])
    made.open().reset(to_earliest, "as told", "run", "pytest")
    before = told(made)
    assert before["not_compared_with_kafka"][0]["rows"] == 10, "nothing of it is read yet"
    made.run()
    assert told(made)["not_compared_with_kafka"] == []
    assert len(made.rows()) == 20


def test_rows_where_the_log_has_markers_are_phantoms(topic: Topic, pipeline: Pipelines) -> None:
    made = pipeline(topic())
    produce(made.bootstrap, made.topics[0], numbered(3))
    aborted = transactional(made.bootstrap)
    send(aborted, made.topics[0], numbered(2))
    end(made.bootstrap, made.topics[0], aborted, commit=False)
    made.run()
    assert told(made)["compared"] == 3
    rows = DeltaTable(made.data).to_pyarrow_table().slice(0, 1)
    at = rows.schema.get_field_index("_offset")
    write_deltalake(made.data, rows.set_column(at, rows.schema.field(at), [[4]]), mode="append")
    answer = told(made, code=1)
    assert {each["invariant"] for each in answer["violations"]} == {"no phantom", "accounted"}
