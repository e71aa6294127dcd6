"""The tables: records arrive unchanged in every layout, and a strange table is refused."""

from __future__ import annotations

import shutil
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.errors import SpecError, TableRefused
from sluice.operations.reset.targets import to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.seam]


JSON = {"type": "json", "schema": "id BIGINT, city STRING"}


def test_records_arrive_unchanged(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(2, retention_ms=-1))
    sent: dict[str, dict[str, Any]] = {
        "bytes that are no text": {"values": [b"\x00\xff\xfe"], "key": b"\x80"},
        "no key": {"values": [b"v"], "key": None},
        "an empty key": {"values": [b"v"], "key": b""},
        "a tombstone": {"values": [None]},
        "an empty value": {"values": [b""]},
        "nothing at all": {"values": [None], "key": None},
        "headers": {"values": [b"v"], "headers": [("h", b"1"), ("h", None), ("", b"")]},
        "a tombstone with headers": {"values": [None], "headers": [("why", b"\xff")]},
        "the first millisecond": {"values": [b"v"], "timestamp": 1},
        "long ago": {"values": [b"v"], "timestamp": 1_356_998_400_123},
        "a large value": {"values": [b"x" * 500_000]},
    }
    for number, record in enumerate(sent.values()):
        produce(trips.bootstrap, trips.topics[0], partition=number % 2, **record)
    trips.run()
    assert trips.judge().facts.rows == len(sent)
    rows = {(row["_partition"], row["_offset"]): row for row in trips.rows()}
    tombstone, empty = rows[1, 1], rows[0, 2]
    assert (tombstone["value"], tombstone["_tombstone"], tombstone["_headers"]) == (
        None,
        True,
        None,
    )
    assert (empty["value"], empty["_tombstone"]) == (b"", False)
    assert rows[0, 3]["_headers"] == [
        {"key": "h", "value": b"1"},
        {"key": "h", "value": None},
        {"key": "", "value": b""},
    ]


def cities(trips: Installed) -> None:
    values = [b'{"id": 1, "city": "Bonn"}', b'{"id": 2, "city": "Lima"}', b'{"id": 3}', None]
    produce(trips.bootstrap, trips.topics[0], values)


def test_a_partitioned_table(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=JSON, partition_by=["city"])
    for _ in range(2):
        cities(trips)
        trips.run()
    assert DeltaTable(trips.data).metadata().partition_columns == ["city"]
    assert trips.judge().facts.rows == 8


def test_a_clustered_table(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=JSON, cluster_by=["city", "id"])
    for _ in range(2):
        cities(trips)
        trips.run()
    assert trips.judge().facts.rows == 8


def test_a_table_that_widens_types_takes_a_wider_one_and_no_narrower_one(
    topic: Topic, pipeline: Pipelines
) -> None:
    narrow, wide = "id INT, part STRUCT<x: FLOAT>", "id BIGINT, part STRUCT<x: DOUBLE>"
    trips = pipeline(topic(), format={"type": "json", "schema": narrow})
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 1, "part": {"x": 0.5}}'])
    trips.run()
    trips.write_spec(format={"type": "json", "schema": wide})
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 9000000000, "part": {"x": 0.1}}'])
    with pytest.raises(SpecError, match="id: expected INT as in the rows"):
        trips.plan()
    widening = "SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    trips.session().sql(f"ALTER TABLE delta.`{trips.data}` {widening}")
    trips.run()
    assert trips.judge().facts.rows == 2
    assert trips.sluice("verify").returncode == 0
    # With Spark: deltalake's own reader does not know the feature.
    rows = trips.session().read.format("delta").load(str(trips.data)).collect()
    values = {(row["id"], row["part"]["x"]) for row in rows}
    assert values == {(1, 0.5), (9_000_000_000, 0.1)}
    trips.write_spec(format={"type": "json", "schema": narrow})
    with pytest.raises(SpecError, match="id: expected BIGINT as in the rows"):
        trips.plan()
    trips.write_spec(format={"type": "json", "schema": wide})
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    assert trips.judge().facts.rows == 2
    assert set(trips.ranges("committed")) == {"forward-1-1", "forward-1-2", "forward-2-1"}


def test_topics_of_several_kinds_land_in_one_table(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), topic())
    for number, name in enumerate(trips.topics):
        produce(trips.bootstrap, name, numbered(number + 2))
    trips.run()
    assert trips.judge().facts.rows == 5


def test_a_foreign_table_is_refused_and_left_as_it_is(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    foreign = pa.table({"name": ["somebody else's"]})
    write_deltalake(trips.data, foreign)
    with pytest.raises(TableRefused, match=str(trips.data)):
        trips.run()
    assert DeltaTable(trips.data).to_pyarrow_table() == foreign
    shutil.rmtree(trips.data)
    trips.run()
    assert trips.judge().facts.rows == 3


def test_a_table_that_was_dropped_is_refused(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    trips.data.rename(trips.folder / "aside")
    for verb in (trips.plan, trips.settle):
        with pytest.raises(TableRefused, match=r"expected Delta table .* found no table"):
            verb()
    (trips.folder / "aside").rename(trips.data)
    assert not trips.run()
    assert trips.judge().facts.rows == 3


def test_a_table_that_lost_a_batch_by_restore_is_not_green(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    DeltaTable(trips.data).restore(0)
    # RESTORE keeps the transaction's version: only the comparison with Kafka can tell.
    done = trips.sluice("verify")
    assert (done.returncode, "complete" in done.stderr) == (1, True), done.stderr
