"""Doubt marks: a data table's own word that one of its batches is in doubt.

They last as long as its rows do, whatever becomes of the offsets table: a transaction id for each
topic id in doubt, which log cleanup keeps.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from deltalake import DeltaTable, Transaction

from sluice.offsets.batches import Batch
from sluice.tables.empty_commit import commit_only_ids
from sluice.tables.features import unfenceable_features
from sluice.tables.table_files import answered

# As a fence: it is there or not, and no number is above it.
_MARK = 2**63 - 1


def marked_topics(table: DeltaTable, batch: Batch) -> Collection[str]:
    """The topic ids of a batch that are marked as in doubt."""
    with answered(table.table_uri):
        return sorted(
            topic_id
            for topic_id in {each.topic_id for each in batch.ranges if each.offsets.span}
            if table.transaction_version(_app_id(batch, topic_id)) == _MARK
        )


def mark_topics(table: DeltaTable, batch: Batch, topic_ids: Collection[str], now: datetime) -> bool:
    """Mark topic ids of a batch in one empty commit; False where the table allows none.

    Raises CommitConflict or CommitFailed, and TableRefused as a fence does.
    """
    if unfenceable_features(table):
        return False
    at = int(now.timestamp() * 1000)
    marks = [Transaction(_app_id(batch, each), _MARK, at) for each in sorted(topic_ids)]
    commit_only_ids(table, marks, now)
    return True


def _app_id(batch: Batch, topic_id: str) -> str:
    return f"{batch.sequence.app_id}:doubt:{batch.number}:{topic_id}"
