"""The log of the data and quarantine tables, read with delta-rs: what has been committed."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from sluice.errors import CommitUnknown, TableRefused
from sluice.planning.alterations import TableCommit, require_ours
from sluice.planning.batches import Batch, BatchSequence, PlannedRange
from sluice.planning.ranges import OffsetRange, TopicPartition
from sluice.tables.fencing import FENCE, FENCEABLE, Fencing
from sluice.tables.removed_rows import removed_rows
from sluice.tables.table_commits import commits_after
from sluice.tables.table_rows import dataset

log = logging.getLogger(__name__)

# The table property that names the pipeline a table belongs to.
OWNER = "sluice.pipeline"

COORDINATES = pa.schema(
    [
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_batch", pa.string()),
    ]
)
KEYS = ["_topic_id", "_partition", "_offset"]


@dataclass(frozen=True)
class Landing:
    """The commit that a batch landed in: its version, how many rows it wrote, whose it is."""

    version: int
    rows: int
    attempt: str | None = None


class DataLog:
    """What a table's own log says; every call reads it anew."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def committed(self, sequence: BatchSequence) -> int:
        """The number of the last committed batch of a sequence, 0 when there is none.

        This is the commit rule: nothing else decides. FENCE for a sequence that a reset has closed.
        Raises CommitUnknown where it is unreadable, TableRefused where the table is not this
        pipeline's.
        """
        table = self._table()
        if table is None:
            return 0
        self._require_owner(table, sequence.pipeline)
        return table.transaction_version(sequence.app_id) or 0

    def closed(self, sequence: BatchSequence) -> bool:
        """Whether a reset's fence stands, so that nothing of the sequence can land any more."""
        return self.committed(sequence) == FENCE

    def fencing(self) -> Fencing | None:
        """The table as it is now, to close generations from; None while there is no table.

        Raises TableRefused for a table that delta-rs does not write, such as a clustered one.
        """
        table = self._table()
        if table is None:
            return None
        if unknown := sorted({*(table.protocol().writer_features or [])} - FENCEABLE):
            raise TableRefused(
                f"{self._uri}: expected table features that delta-rs writes, found"
                f" {', '.join(unknown)}: the generation cannot be closed. ALTER TABLE … DROP"
                " FEATURE takes one away; or read the topic again with a new pipeline into a new"
                " table."
            )
        return Fencing(table)

    def require_ours(self, pipeline: str, since: int = -1) -> list[TableCommit]:
        """The commits above a version, if nothing of them says that the table is not ours any more.

        Raises TableRefused with what was done to it, and the way back.
        """
        table = self._table()
        if table is None:
            return []
        commits = commits_after(table, since)
        require_ours(self._uri, pipeline, commits, table.metadata().configuration)
        return commits

    def exists(self) -> bool:
        """Whether there is a table."""
        return self._table() is not None

    def landing(self, batch: Batch) -> Landing:
        """Find the commit of a committed batch. Raises TableRefused when the log has lost it."""
        commit = self._commit_of(batch)
        if commit is None:
            raise TableRefused(
                f"{self._uri}: batch {batch} is committed, but its commit is no longer in the"
                " table's log, so that no receipt can be written. Raise"
                " `delta.logRetentionDuration` and settle batches before it ends."
            )
        rows = int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
        return Landing(int(commit["version"]), rows, attempt_of(commit))

    def fingerprints(self, batch: Batch) -> Mapping[TopicPartition, str]:
        """Those of a batch's commit, where known; none when the log has lost the commit."""
        commit = self._commit_of(batch)
        return {} if commit is None else fingerprints_of(commit)

    def coordinates(self, batch: Batch | None = None, version: int | None = None) -> pa.Table:
        """The coordinates of every row, or of a batch's rows; at a version, or now."""
        table = self._table(version)
        if table is None:
            return COORDINATES.empty_table()
        mine = None if batch is None else pads.field("_batch") == str(batch)
        return dataset(table).to_table(columns=COORDINATES.names, filter=mine)

    def rows_from(self, topic_id: str, partition: TopicPartition, offset: int) -> int:
        """How many rows a partition has from an offset on; the statistics leave out most files."""
        table = self._table()
        if table is None:
            return 0
        wanted = (
            (pads.field("_topic_id") == topic_id)
            & (pads.field("_partition") == partition.partition)
            & (pads.field("_offset") >= offset)
        )
        return int(dataset(table).count_rows(filter=wanted))

    def version(self) -> int | None:
        """The table's version; None while there is no table."""
        table = self._table()
        return None if table is None else int(table.version())

    def removed(self, version: int) -> pa.Table | None:
        """The coordinates that a version took away; None where that can no longer be told."""
        return removed_rows(self._uri, version, COORDINATES.names, KEYS)

    def _commit_of(self, batch: Batch) -> Mapping[str, Any] | None:
        wanted = (batch.sequence.app_id, batch.number)
        return next((each for each in self._commits() if batch_of(each) == wanted), None)

    def _commits(self) -> Iterator[Mapping[str, Any]]:
        # Newest first. The batch is nearly always among the last few: the whole log is rarely read.
        table = self._table()
        if table is not None:
            yield from table.history(limit=10)
            yield from table.history()[10:]

    def _require_owner(self, table: DeltaTable, pipeline: str) -> None:
        owner = table.metadata().configuration.get(OWNER)
        if owner != pipeline:
            self.require_ours(pipeline)
            found = f"{owner!r}" if owner else "none: Sluice did not create it"
            raise TableRefused(
                f"{self._uri}: expected property {OWNER} = {pipeline!r}, found"
                f" {found}. Move it away, or choose a new `table` in the spec."
            )

    def _table(self, version: int | None = None) -> DeltaTable | None:
        try:
            return DeltaTable(self._uri, version=version)
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as problem:
            raise CommitUnknown(f"{self._uri}: its log cannot be read: {problem}") from problem


def offsets_of(rows: pa.Table, planned: PlannedRange) -> pa.ChunkedArray:
    """The offsets among a table's coordinates that belong to a planned range's partition."""
    mine = pc.and_(
        pc.equal(rows["_topic_id"], planned.topic_id),
        pc.equal(rows["_partition"], planned.offsets.partition.partition),
    )
    return rows.filter(mine)["_offset"]


def batch_metadata(
    batch: Batch, attempt: str, fingerprints: Mapping[TopicPartition, str | None] | None = None
) -> str:
    """The `userMetadata` of a batch's commit: batch, offset ranges, and which attempt made it.

    Each range has the fingerprint of the record before its end, null where that is not known.
    """
    ranges = [
        {
            "topic": each.offsets.partition.topic,
            "topic_id": each.topic_id,
            "partition": each.offsets.partition.partition,
            "start": each.offsets.start,
            "end": each.offsets.end,
            "fingerprint": (fingerprints or {}).get(each.offsets.partition),
        }
        for each in batch.ranges
    ]
    app = {"app_id": batch.sequence.app_id, "number": batch.number, "batch": str(batch)}
    return json.dumps({"sluice": {"version": 1, **app, "attempt": attempt, "ranges": ranges}})


def batch_of(commit: Mapping[str, Any]) -> tuple[str, int] | None:
    """The app id and number of the batch that a commit (its commitInfo) carried, if any."""
    sluice = _sluice(commit)
    try:
        return sluice["app_id"], sluice["number"]
    except KeyError:
        return None


def attempt_of(commit: Mapping[str, Any]) -> str | None:
    """The attempt that made a commit (its commitInfo); None where that is not told."""
    return _sluice(commit).get("attempt")


def fingerprints_of(commit: Mapping[str, Any]) -> Mapping[TopicPartition, str]:
    """The fingerprints that a commit (its commitInfo) holds, where they are known."""
    return {
        TopicPartition(each["topic"], each["partition"]): each["fingerprint"]
        for each in _sluice(commit).get("ranges", ())
        if each.get("fingerprint")
    }


def ranges_of(commit: Mapping[str, Any]) -> list[OffsetRange]:
    """The offset ranges of the batch that a commit (its commitInfo) carried."""
    return [
        OffsetRange(TopicPartition(each["topic"], each["partition"]), each["start"], each["end"])
        for each in _sluice(commit).get("ranges", ())
    ]


def _sluice(commit: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found = json.loads(commit.get("userMetadata") or "")["sluice"]
    except (ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
