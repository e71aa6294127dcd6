"""Fencing: a commit to the data table after which no batch of a closed generation can land."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from deltalake import DeltaTable, Transaction

from sluice.offsets.batches import BatchSequence
from sluice.tables.empty_commit import commit_only_ids
from sluice.tables.table_files import answered

# The highest version of a transaction id (PROTOCOL.md, Transaction Identifiers). Delta's Spark
# writer silently skips a txnVersion that is not above the recorded one (its hasBeenExecuted).
FENCE = 2**63 - 1


class Fencing:
    """The data table at one version: a reset is decided on it and commits its fence against it."""

    def __init__(self, table: DeltaTable) -> None:
        self._table = table

    @property
    def version(self) -> int:
        """The table's version."""
        return int(self._table.version())

    def last(self, sequence: BatchSequence) -> int:
        """The sequence's last batch at this version; FENCE where it is already closed."""
        with answered(self._table.table_uri):
            return self._table.transaction_version(sequence.app_id) or 0

    def close(self, sequences: Iterable[BatchSequence], now: datetime) -> None:
        """Close the sequences in one empty commit.

        Raises CommitConflict when one of their batches or another fence landed since this version
        (in a table with features that delta-rs does not write, when any other commit has);
        TableRefused for a table feature that came meanwhile; CommitFailed when the reset should be
        run again.
        """
        # While transaction ids expire, Spark drops those without a time at once (Delta's
        # InMemoryLogReplay).
        at = int(now.timestamp() * 1000)
        fences = [Transaction(each.app_id, FENCE, at) for each in sequences]
        commit_only_ids(self._table, fences, now)
