"""The columns of an offsets table (format version 2)."""

from __future__ import annotations

import pyarrow as pa

FORMAT_VERSION = 2
# The table property with the decision to begin once more.
BEGUN_ANEW = "sluice.begunAnew"

_LONG = ("start_offset", "end_offset", "log_start_offset", "last_stable_offset")
_COUNTS = ("records", "quarantined", "gaps", "gap_control", "gap_aborted", "gap_compacted")

SCHEMA = pa.schema(
    [
        pa.field("format_version", pa.int32(), nullable=False),
        pa.field("pipeline", pa.string(), nullable=False),
        pa.field("lane", pa.string(), nullable=False),
        pa.field("generation", pa.int32(), nullable=False),
        ("batch_id", pa.int64()),
        ("batch", pa.string()),
        pa.field("event", pa.string(), nullable=False),
        ("mode", pa.string()),
        ("topic", pa.string()),
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        *((name, pa.int64()) for name in _LONG),
        ("leader_epoch", pa.int32()),
        *((name, pa.int64()) for name in _COUNTS),
        ("gap_lost", pa.int64()),
        ("data_version", pa.int64()),
        ("cursor_before", pa.int64()),
        ("cursor_after", pa.int64()),
        ("closed_at", pa.int64()),
        ("cluster_id", pa.string()),
        ("data_table_id", pa.string()),
        ("run_id", pa.string()),
        ("actor", pa.string()),
        ("reason", pa.string()),
        pa.field("recorded_at", pa.timestamp("us", "UTC"), nullable=False),
        # Tables from before one of these columns have none until their next row is written.
        ("spec", pa.string()),
        ("complete_until", pa.timestamp("us", "UTC")),
        ("quarantine_table_id", pa.string()),
        ("filtered", pa.int64()),
    ]
)
