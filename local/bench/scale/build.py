"""Builds the tables of a world, in bulk: with delta-rs and pyarrow, not by running the protocol."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.transaction import AddAction
from sluice.offsets.batches import Batch
from sluice.offsets.partition_log import KafkaState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.fingerprints import Fingerprints
from sluice.protocol.plan.log_identity import take_fingerprints
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.offsets_upkeep import ROW_GROUPS
from sluice.tables.ownership import OWNER

from local.bench.scale.rows import DATA, QUARANTINE, data_rows, offsets_rows, quarantine_rows
from local.bench.scale.world import A_DAY, World, chunks, utc_now

# As many rows as upkeep leaves in a file of the offsets table.
_ROWS_A_FILE = 100_000
_COMMITS_KEPT = 30 * A_DAY
_CHOOSING = ("_topic_id", "_partition", "_offset", "_batch")


def build_many(
    folder: Path, bootstrap: str, topic: str, partitions: int, count: int
) -> list[World]:
    """Worlds of ten batches in one warehouse, which all read one topic."""
    worlds = [
        World(folder, bootstrap, f"{topic[0]}{number:04d}", topic, partitions, 10)
        for number in range(count)
    ]
    for world in worlds:
        build(world)
    return worlds


def build(world: World) -> None:
    """Write the three tables. The broker must hold the topic."""
    resources, now = world.open().resources, utc_now()
    state = resources.kafka.state(world.spec)
    topic_id = next(iter(state.logs.values())).topic_id
    data = Path(resources.data.uri)
    _write_data(world, data, topic_id, now)
    _move_log(world, resources, state, topic_id, now)
    table_id = str(DeltaTable(data).metadata().id)
    ids = {"cluster_id": state.cluster_id, "topic_id": topic_id, "data_table_id": table_id}
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
    quarantine = _create(resources.quarantine.uri, QUARANTINE, world.pipeline)
    write_deltalake(quarantine, quarantine_rows(world, topic_id, now), mode="append")


def _write_data(world: World, folder: Path, topic_id: str, now: datetime) -> None:
    table = _create(str(folder), DATA, world.pipeline)
    added = [
        add_file(folder, name, data_rows(world, topic_id, first, last, now))
        for name, first, last in _files(world.batches)
    ]
    last_batch = Transaction(world.sequence.app_id, world.batches)
    table.create_write_transaction(
        [*added, *_links(folder, added, world.links)],
        "append",
        table.schema(),
        commit_properties=CommitProperties(app_transactions=[last_batch]),
    )
    DeltaTable(folder).create_checkpoint()


def _files(batches: int) -> Iterator[tuple[str, int, int]]:
    """The files of a table that is compacted every night: name, first and last batch."""
    last_night = (batches - 1) // A_DAY * A_DAY
    for first, last in chunks(1, last_night, A_DAY):
        yield f"day-{first:08d}.parquet", first, last
    for number in range(last_night + 1, batches + 1):
        yield f"batch-{number:08d}.parquet", number, number


def _links(folder: Path, files: Sequence[AddAction], count: int) -> Iterator[AddAction]:
    # A file system allows one file some 65,000 links.
    for number in range(count):
        of, name = files[number % len(files)], f"link-{number:08d}.parquet"
        os.link(folder / of.path, folder / name)
        yield AddAction(name, of.size, {}, of.modification_time, True, of.stats)


def add_file(folder: Path, name: str, rows: pa.Table) -> AddAction:
    """Write a file, and the action that adds it to a table, with its statistics."""
    pq.write_table(rows, folder / name)
    bounds = {each: pc.min_max(rows[each]).as_py() for each in _CHOOSING}
    stats = {
        "numRecords": len(rows),
        "minValues": {each: found["min"] for each, found in bounds.items()},
        "maxValues": {each: found["max"] for each, found in bounds.items()},
        "nullCount": dict.fromkeys(_CHOOSING, 0),
    }
    return AddAction(name, (folder / name).stat().st_size, {}, 0, True, json.dumps(stats))


def _move_log(
    world: World, resources: PipelineResources, state: KafkaState, topic_id: str, now: datetime
) -> None:
    """Make the checkpoint that of the last batch's version: batch n landed in version n."""
    log = Path(resources.data.uri) / "_delta_log"
    (made,) = log.glob("*1.checkpoint.parquet")
    made.rename(log / f"{world.batches:020d}.checkpoint.parquet")
    pointer = json.loads((log / "_last_checkpoint").read_text(encoding="utf-8"))
    moved = json.dumps(pointer | {"version": world.batches})
    (log / "_last_checkpoint").write_text(moved, encoding="utf-8")
    for old in log.glob("*.json"):
        old.unlink()
    for number in range(max(1, world.batches - _COMMITS_KEPT), world.batches + 1):
        batch = world.batch(number, state.cluster_id, topic_id)
        newest = number == world.batches
        known = take_fingerprints(resources, batch.by_partition, state) if newest else {}
        text = commit_text(batch, "bench", known, now)
        (log / f"{number:020d}.json").write_text(text, encoding="utf-8")


def commit_text(
    batch: Batch, attempt: str, known: Fingerprints, now: datetime, *actions: dict[str, Any]
) -> str:
    """A batch's commit as Spark writes it."""
    info = {
        "timestamp": int(now.timestamp() * 1000),
        "operation": "WRITE",
        "operationParameters": {"mode": "Append"},
        "operationMetrics": {"numFiles": "1", "numOutputRows": str(batch.span)},
        "userMetadata": batch_metadata(batch, attempt, known),
    }
    transaction = {"appId": batch.sequence.app_id, "version": batch.number}
    return "\n".join(map(json.dumps, [{"commitInfo": info}, {"txn": transaction}, *actions]))


def _create(uri: str, schema: pa.Schema, owner: str) -> DeltaTable:
    return DeltaTable.create(
        uri, schema, configuration={OWNER: owner}, raise_if_key_not_exists=False
    )
