"""The offsets table of a pipeline: plans before, receipts after. With delta-rs, no JVM."""

from __future__ import annotations

from collections.abc import Mapping

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, TableNotFoundError

from sluice.clock import SYSTEM_CLOCK, Clock
from sluice.errors import TableRefused
from sluice.moves import Move
from sluice.tables.log_end import LogEnd
from sluice.tables.offsets_files import RowsByPath
from sluice.tables.offsets_schema import BEGUN_ANEW, SCHEMA
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.offsets_upkeep import clean, compact, compact_now_and_then
from sluice.tables.ownership import OWNER, require_owner
from sluice.tables.refusals import reading, reading_offsets, storing


class OffsetsTable:
    """The offsets table of one pipeline, beside its data table."""

    def __init__(
        self, uri: str, pipeline: str, version_1: str | None, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self.uri = uri
        self._clock = clock
        self._pipeline = pipeline
        self._version_1 = version_1
        self._seen: tuple[LogEnd, OffsetsSnapshot] | None = None
        self._rows: RowsByPath = {}

    def exists(self) -> bool:
        """Whether there is a table now."""
        with reading(self.uri):
            return DeltaTable.is_deltatable(self.uri)

    def beside_version_1(self) -> OffsetsTable:
        """The same table, also where version 1's is still in use: for what builds this one."""
        return OffsetsTable(self.uri, self._pipeline, None, self._clock)

    def snapshot(self) -> OffsetsSnapshot:
        """The current table, for reading; empty when there is none yet.

        Raises TableRefused where it is another pipeline's, or version 1's is still in use;
        NewerFormat where a newer Sluice wrote to it; CommitUnknown where its log is unreadable.
        """
        if self._seen is not None and self._seen[0].stands():
            return self._seen[1]
        with reading_offsets(self.uri, self._pipeline):
            found = _opened(self.uri)
        if found is None:
            self._require_no_version_1()
            return OffsetsSnapshot(self._pipeline, None)
        table, end = found
        require_owner(self.uri, table, self._pipeline)
        snapshot = OffsetsSnapshot(self._pipeline, table, self._rows, self._clock)
        snapshot.require_known_format()
        self._seen = end, snapshot
        return snapshot

    def begin_anew(self, decision: str) -> None:
        """Create the table of a pipeline that begins once more, because a person decided so."""
        self._create({BEGUN_ANEW: decision})

    def snapshot_to_write(self) -> OffsetsSnapshot:
        """The current table, created when there is none yet. Raises as `snapshot`; CommitFailed."""
        found = self.snapshot()
        if not found.exists:
            self._create({})
            found = self.snapshot()
        return found

    def _create(self, properties: Mapping[str, str]) -> None:
        with storing(self.uri):
            try:
                DeltaTable.create(
                    self.uri,
                    SCHEMA,
                    mode="ignore",
                    # One event's rows are found without reading another's.
                    partition_by=["event"],
                    description="Planned and committed Kafka offset ranges, by batch and partition",
                    configuration={
                        "delta.appendOnly": "true",
                        OWNER: self._pipeline,
                        **properties,
                    },
                    raise_if_key_not_exists=False,
                )
            except CommitFailedError:
                # Unless another process has just created it.
                if not DeltaTable.is_deltatable(self.uri):
                    raise

    def _require_no_version_1(self) -> None:
        if self._version_1 is None:
            return
        with reading(self.uri):
            found = DeltaTable.is_deltatable(self._version_1)
            found = found and not DeltaTable.is_deltatable(self.uri)
        if found:
            raise TableRefused(
                f"{self.uri}: expected the pipeline's offsets table (format version 2), found"
                f" {self._version_1}, which version 1 had for all pipelines. ",
                Move("recover", (self._pipeline,)),
                " builds the new table from the data table. When every pipeline is recovered, move"
                " the old one away; a new pipeline can begin after that.",
            )

    def compact_now_and_then(self) -> None:
        """Compact small files when there are many; a failure is only a warning."""
        compact_now_and_then(self.uri)

    def maintain(self) -> None:
        """Compact small files, delete unreferenced ones, write a checkpoint."""
        compact(self.uri)
        clean(self.uri)


def _opened(uri: str) -> tuple[DeltaTable, LogEnd] | None:
    try:
        table = DeltaTable(uri)
    except TableNotFoundError:
        return None
    return table, LogEnd.of(table)
