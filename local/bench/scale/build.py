"""Builds the tables of a world, in bulk: with delta-rs and pyarrow, not by running the protocol."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.transaction import AddAction
from sluice.pipeline import Pipeline
from sluice.protocol.plan.log_identity import take_fingerprints
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.offsets_upkeep import ROW_GROUPS
from sluice.tables.ownership import OWNER

from local.bench.scale.world import (
    A_DAY,
    Ids,
    Numbers,
    World,
    batch_names,
    chunks,
    offsets_rows,
    utc_now,
)

# As many rows as upkeep leaves in a file of the offsets table.
_ROWS_A_FILE = 100_000
_COMMITS_KEPT = 30 * A_DAY
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_DERIVED = [
    ("_topic", pa.string()),
    ("_topic_id", pa.string()),
    ("_partition", pa.int32()),
    ("_offset", pa.int64()),
    ("_timestamp", pa.timestamp("us", "UTC")),
    ("_key", pa.binary()),
    ("_headers", _HEADERS),
]
DATA = pa.schema(
    [("value", pa.binary()), *_DERIVED, ("_tombstone", pa.bool_()), ("_batch", pa.string())]
)
_QUARANTINE = pa.schema(
    [
        *_DERIVED,
        ("value", pa.binary()),
        ("error", pa.string()),
        ("_batch", pa.string()),
        ("quarantined_at", pa.timestamp("us", "UTC")),
    ]
)
_CHOOSING = ("_topic_id", "_partition", "_offset", "_batch")


def build(world: World) -> None:
    """Write the three tables. The broker must hold the topic."""
    pipeline, now = world.open(), utc_now()
    state = pipeline.resources.kafka.state(world.spec)
    topic_id = next(iter(state.logs.values())).topic_id
    _write_data(world, pipeline, topic_id, now)
    resources = pipeline.resources
    ids = Ids(state.cluster_id, topic_id, str(DeltaTable(resources.data.uri).metadata().id))
    resources.offsets.snapshot_to_write()
    app = world.sequence
    for event, app_id in (("planned", app.app_id), ("committed", app.receipts_app_id)):
        for first, last in chunks(1, world.batches, max(1, _ROWS_A_FILE // world.partitions)):
            write_deltalake(
                resources.offsets.uri,
                offsets_rows(world, event, first, last, ids, now),
                mode="append",
                writer_properties=ROW_GROUPS,
                commit_properties=CommitProperties(app_transactions=[Transaction(app_id, last)]),
            )
    DeltaTable(resources.offsets.uri).create_checkpoint()
    _write_quarantine(world, pipeline, topic_id, now)


def _write_data(world: World, pipeline: Pipeline, topic_id: str, now: datetime) -> None:
    uri = Path(pipeline.resources.data.uri)
    table = _create(str(uri), DATA, world.pipeline)
    added = [
        add_file(uri, name, data_rows(world, topic_id, first, last, now))
        for name, first, last in _files(world.batches)
    ]
    table.create_write_transaction(
        [*added, *_links(uri, added, world.links)],
        "append",
        table.schema(),
        commit_properties=CommitProperties(
            app_transactions=[Transaction(world.sequence.app_id, world.batches)]
        ),
    )
    DeltaTable(uri).create_checkpoint()
    _move_log(world, pipeline, topic_id, uri / "_delta_log", now)


def _files(batches: int) -> Iterator[tuple[str, int, int]]:
    """The files of a table that is compacted every night: name, first and last batch."""
    last_night = (batches - 1) // A_DAY * A_DAY
    for first, last in chunks(1, last_night, A_DAY):
        yield f"day-{first:08d}.parquet", first, last
    for number in range(last_night + 1, batches + 1):
        yield f"batch-{number:08d}.parquet", number, number


def _links(uri: Path, files: Sequence[AddAction], count: int) -> Iterator[AddAction]:
    # A file system allows one file some 65,000 links.
    for number in range(count):
        of, name = files[number % len(files)], f"link-{number:08d}.parquet"
        os.link(uri / of.path, uri / name)
        yield AddAction(name, of.size, {}, of.modification_time, True, of.stats)


def add_file(uri: Path, name: str, rows: pa.Table) -> AddAction:
    """Write a file, and the action that adds it to a table, with its statistics."""
    pq.write_table(rows, uri / name)
    bounds = {each: pc.min_max(rows[each]).as_py() for each in _CHOOSING}
    stats = {
        "numRecords": len(rows),
        "minValues": {each: found["min"] for each, found in bounds.items()},
        "maxValues": {each: found["max"] for each, found in bounds.items()},
        "nullCount": dict.fromkeys(_CHOOSING, 0),
    }
    return AddAction(name, (uri / name).stat().st_size, {}, 0, True, json.dumps(stats))


def data_rows(world: World, topic_id: str, first: int, last: int, now: datetime) -> pa.Table:
    """The rows of the data table that some batches wrote, ordered by partition as OPTIMIZE does."""
    numbers, partitions, quarantined = world.coordinates(first, last)
    order = np.argsort(partitions[~quarantined], kind="stable")
    return _rows(
        DATA, world, topic_id, numbers[~quarantined][order], partitions[~quarantined][order], now
    )


def _rows(
    schema: pa.Schema,
    world: World,
    topic_id: str,
    numbers: Numbers,
    partitions: Numbers,
    now: datetime,
) -> pa.Table:
    rows = len(numbers)
    found = {
        "value": pa.repeat(pa.scalar(b"x"), rows),
        "_topic": pa.repeat(pa.scalar(world.topic), rows),
        "_topic_id": pa.repeat(pa.scalar(topic_id), rows),
        "_partition": pa.array(partitions),
        "_offset": pa.array(numbers - 1),
        "_timestamp": pa.repeat(pa.scalar(now), rows),
        "_tombstone": pa.repeat(pa.scalar(False), rows),
        "_batch": batch_names(numbers),
        "error": pa.repeat(pa.scalar("[MALFORMED_RECORD] not JSON"), rows),
        "quarantined_at": pa.repeat(pa.scalar(now), rows),
    }
    arrays = [found.get(each.name, pa.nulls(rows)).cast(each.type) for each in schema]
    return pa.table(arrays, schema=schema)


def _move_log(world: World, pipeline: Pipeline, topic_id: str, log: Path, now: datetime) -> None:
    """Make the checkpoint that of the last batch's version: batch n landed in version n."""
    (made,) = log.glob("*1.checkpoint.parquet")
    made.rename(log / f"{world.batches:020d}.checkpoint.parquet")
    pointer = json.loads((log / "_last_checkpoint").read_text(encoding="utf-8"))
    moved = json.dumps(pointer | {"version": world.batches})
    (log / "_last_checkpoint").write_text(moved, encoding="utf-8")
    for old in log.glob("*.json"):
        old.unlink()
    resources = pipeline.resources
    state = resources.kafka.state(world.spec)
    for number in range(max(1, world.batches - _COMMITS_KEPT), world.batches + 1):
        batch = world.batch(number, state.cluster_id, topic_id)
        newest = number == world.batches
        known = take_fingerprints(resources, batch.by_partition, state) if newest else {}
        info = {
            "timestamp": int(now.timestamp() * 1000),
            "operation": "WRITE",
            "operationParameters": {"mode": "Append"},
            "operationMetrics": {"numFiles": "1", "numOutputRows": str(batch.span)},
            "userMetadata": batch_metadata(batch, "bench", known),
        }
        lines = [
            {"commitInfo": info},
            {"txn": {"appId": world.sequence.app_id, "version": number}},
        ]
        text = "\n".join(map(json.dumps, lines))
        (log / f"{number:020d}.json").write_text(text, encoding="utf-8")


def _write_quarantine(world: World, pipeline: Pipeline, topic_id: str, now: datetime) -> None:
    numbers, partitions, quarantined = world.coordinates(1, world.batches)
    rows = _rows(_QUARANTINE, world, topic_id, numbers[quarantined], partitions[quarantined], now)
    uri = pipeline.resources.quarantine.uri
    write_deltalake(_create(uri, _QUARANTINE, world.pipeline), rows, mode="append")


def _create(uri: str, schema: pa.Schema, owner: str) -> DeltaTable:
    return DeltaTable.create(
        uri, schema, configuration={OWNER: owner}, raise_if_key_not_exists=False
    )
