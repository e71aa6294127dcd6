"""Creation of a quarantine table in the place of another one, without a JVM."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from deltalake import DeltaTable

from sluice.tables.ownership import OWNER
from sluice.tables.quarantine_table import REPLACES
from sluice.tables.refusals import storing
from sluice.tables.storage import clear_leftovers

QUARANTINE_STATISTICS = "_topic_id,_partition,_offset,_timestamp,_batch"
_SCHEMA = pa.schema(
    [
        ("_topic", pa.string()),
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_timestamp", pa.timestamp("us", "UTC")),
        ("_key", pa.binary()),
        ("_headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("value", pa.binary()),
        ("error", pa.string()),
        ("_batch", pa.string()),
        ("quarantined_at", pa.timestamp("us", "UTC")),
    ]
)


def replace_quarantine(uri: str, pipeline: str, others: Collection[str]) -> None:
    """Create the table in the place of others; an existing one is marked as their replacement.

    Raises CommitFailed where the store refuses.
    """
    replaces = {REPLACES: " ".join(sorted(others))}
    with storing(uri):
        if DeltaTable.is_deltatable(uri):
            DeltaTable(uri).alter.set_table_properties(replaces, raise_if_not_exists=False)
            return
        clear_leftovers(uri)
        DeltaTable.create(
            uri,
            _SCHEMA,
            mode="ignore",
            configuration={
                OWNER: pipeline,
                "sluice.version": "2",
                "delta.dataSkippingStatsColumns": QUARANTINE_STATISTICS,
                **replaces,
            },
            raise_if_key_not_exists=False,
        )
