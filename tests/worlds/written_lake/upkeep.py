"""Upkeep of the tables without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import DeltaError
from sluice.clock import Chance, Clock
from sluice.errors import SparkFailed
from sluice.lake.port import Compacted, StateLake
from sluice.offsets.quarantined import BatchOffsets

from tests.worlds.written_lake.commit import Committer, Draft
from tests.worlds.written_lake.conflicts import Basis, everywhere
from tests.worlds.written_lake.data_files import FileWriter, read_rows, removal
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.state import StoredFile, TableState
from tests.worlds.written_lake.vacuum import vacuum

_LARGE = 2**30


@contextmanager
def _naming_failures() -> Iterator[None]:
    """As Spark's: whatever stops it is named."""
    try:
        yield
    except (DeltaError, OSError) as problem:
        raise SparkFailed(f"Spark stopped: {problem}") from problem


@dataclass(frozen=True)
class WrittenUpkeep:
    """Implements the port `Upkeep`."""

    quarantine: str
    clock: Clock
    chance: Chance
    switch: Callable[[str], None]
    open_state: Callable[[], AbstractContextManager[StateLake]]

    @_naming_failures()
    def remove_quarantined(self, rows: Sequence[BatchOffsets]) -> None:
        """Delete rows from the quarantine table, in one commit."""
        state = self._state(self.quarantine)
        touched, copies, deleted = [], [], 0
        for each in state.files:
            found = read_rows(state.uri, each, state.schema)
            mask = pa.array([_is_among(row, rows) for row in _places(found)], pa.bool_())
            if gone := pc.sum(mask).as_py() or 0:
                touched.append(each)
                copies.append(found.filter(pc.invert(mask)))
                deleted += gone
        if not touched:
            return
        added = self._files(state).write(copies)
        copied = sum(map(len, copies))
        metrics = {
            "numTargetRowsCopied": copied,
            "numTargetRowsDeleted": deleted,
            "numTargetRowsMatchedDeleted": deleted,
            "numTargetRowsUpdated": 0,
            "numTargetRowsInserted": 0,
            "numTargetFilesAdded": len(added),
            "numTargetFilesRemoved": len(touched),
            "numOutputRows": copied,
            "numSourceRows": len(rows),
        }
        matched = '[{"actionType":"delete"}]'
        self._commit(
            Draft(
                state.uri,
                state.version,
                "MERGE",
                {"matchedPredicates": matched, "notMatchedPredicates": "[]"},
                [*({"add": each} for each in added), *self._removed(touched)],
                metrics,
                blind=False,
                basis=Basis(
                    may_be_in=everywhere,
                    read=frozenset(each.path for each in state.files),
                    removed=frozenset(each.path for each in touched),
                ),
            )
        )

    @_naming_failures()
    def compact(self, uri: str) -> Compacted:
        """Rewrite a table's small files as one for each partition; no row changes."""
        state = self._state(uri)
        groups: dict[tuple[str | None, ...], list[StoredFile]] = {}
        for each in state.files:
            if each.size < _LARGE:
                groups.setdefault(tuple(each.partition.values()), []).append(each)
        several = [files for files in groups.values() if len(files) > 1]
        if not several:
            return Compacted(0, 0)
        parts = [
            pa.concat_tables([read_rows(uri, each, state.schema) for each in files])
            for files in several
        ]
        added = self._files(state).write(parts, changes=False)
        old = [each for files in several for each in files]
        paths = frozenset(each.path for each in old)
        self._commit(
            Draft(
                uri,
                state.version,
                "OPTIMIZE",
                {"predicate": "[]", "zOrderBy": "[]", "clusterBy": "[]", "auto": False},
                [*({"add": each} for each in added), *self._removed(old, changes=False)],
                {
                    "numRemovedFiles": len(old),
                    "numRemovedBytes": sum(each.size for each in old),
                    "numAddedFiles": len(added),
                    "numAddedBytes": sum(each["size"] for each in added),
                },
                blind=False,
                isolation="SnapshotIsolation",
                basis=Basis(read=paths, removed=paths),
            )
        )
        return Compacted(len(old), len(added))

    def state(self) -> AbstractContextManager[StateLake]:
        """What takes rows from the state table."""
        return self.open_state()

    def purge(self, uri: str) -> Compacted:
        """Nothing: it writes no deletion vectors, and reads no table that has them."""
        self._state(uri)
        return Compacted(0, 0)

    @_naming_failures()
    def vacuum(self, uri: str) -> None:
        """Delete files that the table has not referenced for its retention."""
        vacuum(self._state(uri), self.clock, Committer(self.clock, self.chance))

    def _state(self, uri: str) -> TableState:
        state = TableState(uri)
        self.switch("lake: snapshot taken")
        return state

    def _files(self, state: TableState) -> FileWriter:
        of_table = state.uri, state.schema, state.partition_by, state.statistics
        return FileWriter(*of_table, self.clock, self.chance)

    def _removed(
        self, files: Sequence[StoredFile], *, changes: bool = True
    ) -> list[dict[str, object]]:
        now = milliseconds(self.clock.now())
        return [
            {
                "remove": {
                    **removal(each, now, changes=changes),
                    "stats": f'{{"numRecords":{each.rows}}}',
                }
            }
            for each in files
        ]

    def _commit(self, draft: Draft) -> None:
        self.switch("lake: files written")
        Committer(self.clock, self.chance).commit(draft)
        self.switch("lake: committed")


def _places(rows: pa.Table) -> list[dict[str, object]]:
    places: list[dict[str, object]] = rows.select(
        ["_batch", "_topic_id", "_partition", "_offset"]
    ).to_pylist()
    return places


def _is_among(row: dict[str, object], gone: Sequence[BatchOffsets]) -> bool:
    return any(
        row["_batch"] == each.batch
        and row["_topic_id"] == each.topic_id
        and row["_partition"] == each.offsets.partition.partition
        and row["_offset"] in range(each.offsets.start, each.offsets.end)
        for each in gone
    )
