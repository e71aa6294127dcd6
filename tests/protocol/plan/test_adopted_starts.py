"""Another system's position is taken over: its table and ours are the topic, without overlap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import DataLost, SettingsError

from local.embedded.broker import Broker
from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

Coordinates = set[tuple[str, int, int]]


def stream(spark: Any, bootstrap: str, topic: str, folder: Path) -> None:
    """A Structured Streaming query: what is there now, five records at a time."""
    source = {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "5",
    }
    records = spark.readStream.format("kafka").options(**source).load()
    query = (
        records.select("topic", "partition", "offset")
        .writeStream.format("delta")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "table"))
    )
    query.awaitTermination()


def streamed(folder: Path) -> list[tuple[str, int, int]]:
    rows = DeltaTable(folder / "table").to_pyarrow_table().to_pylist()
    return [(row["topic"], row["partition"], row["offset"]) for row in rows]


def landed(trips: Installed) -> list[tuple[str, int, int]]:
    return [(row["_topic"], row["_partition"], row["_offset"]) for row in trips.rows()]


@pytest.mark.spark
def test_a_streaming_query_hands_over_at_its_last_committed_batch(
    broker: Broker, topic: Topic, pipeline: Pipelines, tmp_path: Path, caplog: Any
) -> None:
    name, unknown, old = topic(2), topic(), tmp_path / "old"
    trips = pipeline(name, unknown, start={"checkpoint": str(old / "checkpoint")})
    for partition, count in enumerate((5, 4)):
        produce(broker.bootstrap, name, numbered(count), partition)
    produce(broker.bootstrap, unknown, numbered(2))
    stream(trips.session(), broker.bootstrap, name, old)
    produce(broker.bootstrap, name, numbered(4, first=5))

    # Killed after its commit to the table, and before it could say so.
    commits = sorted((old / "checkpoint" / "commits").glob("[0-9]*"), key=lambda at: int(at.name))
    assert len(commits) > 1
    commits[-1].unlink()
    commits[-1].with_name(f".{commits[-1].name}.crc").unlink()
    with pytest.raises(SettingsError, match=rf"planned up to batch {commits[-1].name}: .* or 5"):
        trips.plan()
    assert trips.ranges() == {}

    # The next move that the error names: the query finishes its batch, and what came meanwhile.
    stream(trips.session(), broker.bootstrap, name, old)
    produce(broker.bootstrap, name, numbered(3, first=4), 1)
    trips.run()
    theirs, ours = streamed(old), landed(trips)
    assert len(theirs) == len(set(theirs)) == 13
    assert sorted(ours) == sorted(
        [(name, 1, 4), (name, 1, 5), (name, 1, 6), (unknown, 0, 0), (unknown, 0, 1)]
    )
    truth = read_truth(broker.bootstrap, [name, unknown])
    assert {*theirs, *ours} == {
        (place.topic, place.partition, offset)
        for place in truth.partitions.values()
        for offset in place.records.column("offset").to_pylist()
    }

    # Stored history outranks a start that was changed later, and says so.
    trips.write_spec(start="earliest")
    caplog.clear()
    assert not trips.plan()
    began = f"`start: checkpoint {old / 'checkpoint'}`"
    assert (
        f"`start: earliest` has no effect any more: the pipeline began with {began}"
        in "\n".join(caplog.messages)
    )
    assert trips.judge(from_earliest=False).facts.rows == 5


def ingested(table: Path, offsets: dict[str, int]) -> None:
    """What a commit of kafka-delta-ingest is: data, and a transaction for each partition."""
    transactions = [Transaction(name, offset) for name, offset in offsets.items()]
    rows = pa.table({"id": list(offsets.values())})
    written = CommitProperties(app_transactions=transactions)
    write_deltalake(table, rows, mode="append", commit_properties=written)


def test_a_table_of_kafka_delta_ingest_hands_over_behind_the_last_offset_written(
    broker: Broker, topic: Topic, pipeline: Pipelines, tmp_path: Path
) -> None:
    name, table = topic(3), tmp_path / "ingested"
    for partition in range(3):
        produce(broker.bootstrap, name, numbered(6), partition)
    ingested(table, {"app-0": 1, "app-1": 0})
    ingested(table, {"app-0": 3})
    # From here on the log tells of `app-1` in its checkpoint alone.
    DeltaTable(table).create_checkpoint()
    (table / "_delta_log" / f"{0:020d}.json").unlink()
    ingested(table, {"other-0": 2})
    trips = pipeline(name, start={"delta_ingest": {"table": str(table)}})
    with pytest.raises(SettingsError, match="expected one app id, found those of 'app', 'other'"):
        trips.plan()
    trips.write_spec(start={"delta_ingest": {"table": str(table), "app_id": "app"}})

    before = read_truth(broker.bootstrap, [name])
    delete_records(broker.bootstrap, name, 4, 1)
    with pytest.raises(DataLost, match=r"\[1\]: expected to go on at 1, found .* at 4: 3 offsets"):
        trips.plan()
    trips.write_spec(on_data_loss="record")
    trips.run()
    assert trips.ranges() == {"forward-1-1": {"[0]": (4, 6), "[1]": (4, 6), "[2]": (0, 6)}}
    lost = [
        (row["partition"], row["start_offset"], row["end_offset"]) for row in trips.offsets("loss")
    ]
    assert lost == [(1, 1, 4)]
    assert trips.judge(remembered=before, from_earliest=False).facts.rows == 10
