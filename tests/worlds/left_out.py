"""A landing that left a record out, as a faulty reader would: a real commit, made with delta-rs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.offsets.batches import BatchReference
from sluice.progress.lane_state import read_unchecked
from sluice.tables.batch_commits import batch_metadata

from tests.oracle import KafkaTruth
from tests.worlds.pipelines import Installed


def land_without(trips: Installed, work: BatchReference, left_out: int, truth: KafkaTruth) -> int:
    """Land a planned batch of one partition but for one offset. Returns the version.

    A replacement keeps the row that was there at that offset.
    """
    batch = read_unchecked(trips.open().resources).history.batch(work.batches[0])
    (planned,) = batch.ranges
    place = truth.partitions[planned.topic_id, planned.offsets.partition.partition]
    table = DeltaTable(trips.data)
    schema = pa.schema(table.schema().to_arrow())
    offset = pc.field("offset")
    within = (offset >= planned.offsets.start) & (offset < planned.offsets.end)
    records = place.records.filter(within & (offset != left_out))
    stamps = records["timestamp"].cast(pa.timestamp("ms", "UTC"))
    columns = {
        "value": records["value"],
        "_topic": place.topic,
        "_topic_id": place.topic_id,
        "_partition": place.partition,
        "_offset": records["offset"],
        "_timestamp": stamps,
        "_key": records["key"],
        "_headers": records["headers"],
        "_tombstone": False,
        "_batch": str(batch),
    }
    arrays = [
        found if isinstance(found, pa.ChunkedArray) else pa.repeat(found, len(records))
        for found in (columns[name] for name in schema.names)
    ]
    rows = pa.table(arrays, names=schema.names).cast(schema)
    how: dict[str, Any] = {"mode": "append"}
    if batch.mode == "replace":
        how = {"mode": "overwrite", "predicate": f"_offset <> {left_out}"}
    write_deltalake(
        table,
        rows,
        **how,
        commit_properties=CommitProperties(
            custom_metadata={"userMetadata": batch_metadata(batch, "a faulty reader")},
            app_transactions=[Transaction(batch.sequence.app_id, batch.number)],
        ),
    )
    return DeltaTable(trips.data).version()
