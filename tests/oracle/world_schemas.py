"""The Arrow schemas of the little world's tables, as section 9 of the design has them."""

from __future__ import annotations

import pyarrow as pa

from tests.oracle.kafka_truth import HEADERS
from tests.oracle.offsets_rows import COLUMNS

TIMESTAMP = pa.timestamp("us", "UTC")
RECORD = [
    ("_topic", pa.string()),
    ("_topic_id", pa.string()),
    ("_partition", pa.int32()),
    ("_offset", pa.int64()),
    ("_timestamp", TIMESTAMP),
    ("_key", pa.binary()),
    ("_headers", HEADERS),
    ("_batch", pa.string()),
]
SCHEMAS = {
    "data": pa.schema(
        [("id", pa.int64()), ("name", pa.string()), *RECORD, ("_tombstone", pa.bool_())]
    ),
    "raw": pa.schema([("value", pa.binary()), *RECORD, ("_tombstone", pa.bool_())]),
    "quarantine": pa.schema(
        [*RECORD, ("value", pa.binary()), ("error", pa.string()), ("quarantined_at", TIMESTAMP)]
    ),
}
TEXTS = {"pipeline", "lane", "batch", "event", "mode", "topic", "topic_id", "cluster_id", "run_id"}
TEXTS |= {"actor", "reason", "data_table_id"}
INTS = {"format_version", "generation", "partition", "leader_epoch"}


def _offsets_type(column: str) -> pa.DataType:
    if column == "recorded_at":
        return TIMESTAMP
    if column in TEXTS:
        return pa.string()
    return pa.int32() if column in INTS else pa.int64()


SCHEMAS["offsets"] = pa.schema([(name, _offsets_type(name)) for name in COLUMNS])
