"""The rows of a world's tables, as the product writes them, in columns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sluice.tables.offsets_schema import SCHEMA

from local.bench.scale.world import Numbers, World

_EVERY = timedelta(minutes=10)
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_ENVELOPE = [
    ("_topic", pa.string()),
    ("_topic_id", pa.string()),
    ("_partition", pa.int32()),
    ("_offset", pa.int64()),
    ("_timestamp", pa.timestamp("us", "UTC")),
    ("_key", pa.binary()),
    ("_headers", _HEADERS),
]
DATA = pa.schema(
    [("value", pa.binary()), *_ENVELOPE, ("_tombstone", pa.bool_()), ("_batch", pa.string())]
)
QUARANTINE = pa.schema(
    [
        *_ENVELOPE,
        ("value", pa.binary()),
        ("error", pa.string()),
        ("_batch", pa.string()),
        ("quarantined_at", pa.timestamp("us", "UTC")),
    ]
)


def offsets_rows(
    world: World, event: str, first: int, last: int, ids: Mapping[str, str], now: datetime
) -> pa.Table:
    """The rows of an event for some batches; `ids` are of the cluster and the two tables."""
    numbers, partitions, quarantined = world.coordinates(first, last)
    seconds = (world.batches - numbers) * int(_EVERY.total_seconds())
    values = {
        **ids,
        "format_version": 2,
        "pipeline": world.pipeline,
        "lane": "forward",
        "generation": 1,
        "event": event,
        "mode": "append",
        "topic": world.topic,
        "log_start_offset": 0,
        "leader_epoch": 0,
        "run_id": "bench",
        "actor": "bench",
        "batch_id": numbers,
        "batch": _batch_names(numbers),
        "partition": partitions,
        "start_offset": numbers - 1,
        "end_offset": numbers,
        "last_stable_offset": numbers,
        "recorded_at": np.datetime64(now.replace(tzinfo=None), "us")
        - seconds.astype("timedelta64[s]"),
    }
    if event == "committed":
        gaps = ("gaps", "gap_control", "gap_aborted", "gap_compacted", "gap_lost")
        values |= {
            "records": 1 - quarantined.astype(np.int64),
            "quarantined": quarantined.astype(np.int64),
            "data_version": numbers,
            **dict.fromkeys(gaps, 0),
        }
    return _table(SCHEMA, len(numbers), values)


def data_rows(world: World, topic_id: str, first: int, last: int, now: datetime) -> pa.Table:
    """The rows of the data table that some batches wrote, ordered by partition as OPTIMIZE does."""
    numbers, partitions, quarantined = world.coordinates(first, last)
    order = np.argsort(partitions[~quarantined], kind="stable")
    numbers, partitions = numbers[~quarantined][order], partitions[~quarantined][order]
    return _table(DATA, len(numbers), _records(world, topic_id, numbers, partitions, now))


def quarantine_rows(world: World, topic_id: str, now: datetime) -> pa.Table:
    """All rows of the quarantine table."""
    numbers, partitions, quarantined = world.coordinates(1, world.batches)
    numbers, partitions = numbers[quarantined], partitions[quarantined]
    values = {
        **_records(world, topic_id, numbers, partitions, now),
        "error": "[MALFORMED_RECORD] not JSON",
        "quarantined_at": now,
    }
    return _table(QUARANTINE, len(numbers), values)


def _records(
    world: World, topic_id: str, numbers: Numbers, partitions: Numbers, now: datetime
) -> dict[str, object]:
    return {
        "value": b"x",
        "_topic": world.topic,
        "_topic_id": topic_id,
        "_partition": partitions,
        "_offset": numbers - 1,
        "_timestamp": now,
        "_tombstone": False,
        "_batch": _batch_names(numbers),
    }


def _batch_names(numbers: Numbers) -> pa.Array:
    return pc.binary_join_element_wise("forward-1", pa.array(numbers).cast(pa.string()), "-")


def _table(schema: pa.Schema, rows: int, values: Mapping[str, object]) -> pa.Table:
    """A column of each array, and of each single value; of what has none, nulls."""

    def column(field: pa.Field) -> pa.Array:
        value = values.get(field.name)
        if value is None:
            return pa.nulls(rows, field.type)
        if isinstance(value, np.ndarray | pa.Array):
            return pa.array(value).cast(field.type)
        return pa.repeat(pa.scalar(value, field.type), rows)

    return pa.table([column(each) for each in schema], schema=schema)
