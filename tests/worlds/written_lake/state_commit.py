"""State commits: the changed rows of a state table, written in one commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.clock import Chance, Clock
from sluice.lake.port import StateAttempt
from sluice.state_table.commits import app_id
from sluice.state_table.counts import StateCounts

from tests.worlds.written_lake.commit import Committer, Draft
from tests.worlds.written_lake.conflicts import Basis, everywhere
from tests.worlds.written_lake.data_files import FileWriter, removal
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.plain_rows import as_table, rows_of
from tests.worlds.written_lake.row_order import Row, RowOrder
from tests.worlds.written_lake.state import StoredFile, TableState
from tests.worlds.written_lake.state_rows import Changes
from tests.worlds.written_lake.types import Field, arrow_schema, field_of


@dataclass(frozen=True)
class StateWriting:
    """A write that is based on a version of a pipeline's state table.

    As Delta does, it is skipped where the table's transaction is not below the span's end.
    """

    table: TableState
    pipeline: str
    attempt: StateAttempt
    counts: StateCounts
    clock: Clock
    chance: Chance
    switch: Callable[[str], None]

    def merge(self, changes: Changes) -> None:
        """Write the changed rows, and the files anew that had the old ones.

        Rows of an appended span are compared once more, with the table that is written to.
        """
        order = RowOrder(self.attempt.rules, self.attempt.ranks)
        touched, copies, left = [], [], dict(changes)
        for file in self.table.files:
            rows = rows_of(self.table, [file])
            at = [order.key(row) for row in rows]
            if not any(key in changes for key in at):
                continue
            touched.append(file)
            for key, row in zip(at, rows, strict=True):
                if key not in changes:
                    copies.append(row)
                elif (new := left.pop(key, None)) is not None:
                    is_older = self._compares and order.of(new) < order.of(row)
                    copies.append(row if is_older else new)
        come = [row for row in left.values() if row is not None]
        self._commit("MERGE", {"matchedPredicates": "[]"}, self._fields(), [copies, come], touched)

    def overwrite(self, rows: Sequence[Row]) -> None:
        """Write all rows in place of those that are there, with the columns of the log."""
        fields = [field_of(each) for each in self._columns]
        mode = {"mode": "Overwrite", "partitionBy": "[]"}
        self._commit("WRITE", mode, fields, [rows], self.table.files)

    @property
    def _compares(self) -> bool:
        return self.attempt.span.kind == "appended"

    @property
    def _columns(self) -> Sequence[Any]:
        return self.attempt.rules.columns(self.attempt.columns)

    def _fields(self) -> list[Field]:
        """The table's fields, and then those that it is given."""
        known = {each["name"].lower() for each in self.table.fields}
        new = [field_of(each) for each in self._columns if each.name.lower() not in known]
        return [*self.table.fields, *new]

    def _commit(
        self,
        operation: str,
        parameters: Mapping[str, Any],
        fields: list[Field],
        parts: Sequence[Sequence[Row]],
        touched: Sequence[StoredFile],
    ) -> None:
        mine, upto = app_id(self.pipeline), self.attempt.span.upto
        stored = self.table.transaction(mine)
        if stored is not None and stored >= upto:
            return
        schema, now = arrow_schema(fields), milliseconds(self.clock.now())
        of_table = self.table.uri, schema, self.table.partition_by, self.table.statistics
        writer = FileWriter(*of_table, self.clock, self.chance)
        added = writer.write([as_table(part, schema) for part in parts if part])
        grown = [] if fields == self.table.fields else [{"metaData": self.table.metadata(fields)}]
        basis = Basis(
            mine,
            everywhere,
            frozenset(each.path for each in self.table.files),
            frozenset(each.path for each in touched),
        )
        actions = [
            {"txn": {"appId": mine, "version": upto, "lastUpdated": now}},
            *grown,
            *({"add": each} for each in added),
            *({"remove": removal(each, now)} for each in touched),
        ]
        told = self.attempt.commit.counted(self.counts).text
        metrics = {"numFiles": len(added), "numRemovedFiles": len(touched)}
        self.switch("lake: files written")
        Committer(self.clock, self.chance).commit(
            Draft(
                self.table.uri,
                self.table.version,
                operation,
                parameters,
                actions,
                metrics,
                told,
                blind=False,
                basis=basis,
            )
        )
        self.switch("lake: committed")
