"""Writing: one commit of rows to a table, from the version that it was begun at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sluice.clock import Chance, Clock
from sluice.columns.columns import Column
from sluice.offsets.ranges import TopicPartition

from tests.worlds.written_lake.commit import Committer, Draft
from tests.worlds.written_lake.conflicts import Basis
from tests.worlds.written_lake.data_files import FileWriter, read_rows, removal
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.replaced import Rows
from tests.worlds.written_lake.state import StoredFile, TableState
from tests.worlds.written_lake.types import Field, arrow_schema, field_of

Place = tuple[TopicPartition, int]
Recorded = tuple[str, int]
"""A transaction id and its version."""


class Writing:
    """A write that is based on a table's state."""

    def __init__(
        self, state: TableState, clock: Clock, chance: Chance, switch: Callable[[str], None]
    ) -> None:
        self._state = state
        self._clock, self._chance, self._switch = clock, chance, switch

    def has_used(self, app_id: str, version: int) -> bool:
        """Whether the transaction version is recorded: Delta then skips the write."""
        return (self._state.transaction(app_id) or 0) >= version

    def append(
        self,
        parts: Sequence[pa.Table],
        recorded: Recorded,
        told: str,
        columns: Sequence[Column] | None = None,
    ) -> None:
        """Add rows, in a blind append."""
        fields = self._fields(columns or ())
        added = self._files(fields).write(_whole(parts, arrow_schema(fields)))
        merging = {} if columns is None else {"canMergeSchema": True}
        parameters = {"mode": "Append", "partitionBy": "[]", **merging}
        actions = [*self._transaction(recorded), *self._metadata(fields), *_adds(added)]
        self._commit(
            Draft(
                self._state.uri,
                self._state.version,
                "WRITE",
                parameters,
                actions,
                _metrics(added, parts),
                told,
                basis=Basis(recorded[0]),
            )
        )

    def replace(
        self,
        parts: Sequence[pa.Table],
        where: Rows,
        told: str,
        recorded: Recorded,
        columns: Sequence[Column],
    ) -> None:
        """Remove the rows that `where` names, and add these, in one commit."""
        fields = self._fields(columns)
        files, schema = self._files(fields), arrow_schema(fields)
        candidates = self._candidates(where)
        touched, copies, deleted = [], [], 0
        for each in candidates:
            rows = read_rows(self._state.uri, each, self._state.schema)
            mask = where.mask(rows)
            if gone := pc.sum(mask).as_py() or 0:
                touched.append(each)
                copies.append(rows.filter(pc.invert(mask)))
                deleted += gone
        copied = sum(map(len, copies))
        added = files.write(_whole(parts, schema))
        moved = files.write(_whole(copies, schema))
        now = milliseconds(self._clock.now())
        removed = [{"remove": removal(each, now)} for each in touched]
        mode = {"mode": "Overwrite", "partitionBy": "[]", "predicate": where.predicate}
        metrics = {
            "numFiles": len(added) + len(moved),
            "numRemovedFiles": len(touched),
            "numRemovedBytes": sum(each.size for each in touched),
            "numCopiedRows": copied,
            "numAddedChangeFiles": 0,
            "numDeletedRows": deleted,
            "numOutputRows": sum(map(len, parts)) + copied,
            "numOutputBytes": sum(each["size"] for each in (*added, *moved)),
        }
        ids = self._transaction(recorded)
        self._commit(
            Draft(
                self._state.uri,
                self._state.version,
                "WRITE",
                {**mode, "canMergeSchema": True},
                [*ids, *self._metadata(fields), *_adds(added), *removed, *_adds(moved)],
                metrics,
                told,
                blind=False,
                basis=Basis(
                    recorded[0],
                    where.may_be_in,
                    frozenset(each.path for each in candidates),
                    frozenset(each.path for each in touched),
                ),
            )
        )

    def rows_besides(self, where: Rows, known: Collection[Place]) -> list[pa.Table]:
        """Of the rows that `where` names, those at other places than the known ones.

        By the files that hold them: Spark reads each in a task, which writes a file.
        """
        found = []
        for each in self._candidates(where):
            rows = read_rows(self._state.uri, each, self._state.schema)
            found.append(besides(rows.filter(where.mask(rows)), known))
        return [each for each in found if len(each)]

    def _candidates(self, where: Rows) -> list[StoredFile]:
        return [
            each
            for each in self._state.files
            if where.may_be_in(each.partition) and where.may_be_of(each)
        ]

    def _fields(self, columns: Sequence[Column]) -> list[Field]:
        """The table's fields, and then those columns that it lacks."""
        known = {each["name"].lower() for each in self._state.fields}
        new = [field_of(each) for each in columns if each.name.lower() not in known]
        return [*self._state.fields, *new]

    def _files(self, fields: Sequence[Field]) -> FileWriter:
        state = self._state
        schema = arrow_schema(fields)
        return FileWriter(
            state.uri, schema, state.partition_by, state.statistics, self._clock, self._chance
        )

    def _metadata(self, fields: list[Field]) -> list[dict[str, Any]]:
        if len(fields) == len(self._state.fields):
            return []
        return [{"metaData": self._state.metadata(fields)}]

    def _transaction(self, recorded: Recorded) -> list[dict[str, Any]]:
        now = milliseconds(self._clock.now())
        app_id, version = recorded
        return [{"txn": {"appId": app_id, "version": version, "lastUpdated": now}}]

    def _commit(self, draft: Draft) -> None:
        self._switch("lake: files written")
        Committer(self._clock, self._chance).commit(draft)
        self._switch("lake: committed")


def places_of(rows: pa.Table) -> list[Place]:
    """Where each row is."""
    columns = (rows[name].to_pylist() for name in ("_topic", "_partition", "_offset"))
    return [(TopicPartition(topic, number), at) for topic, number, at in zip(*columns, strict=True)]


def besides(rows: pa.Table, known: Collection[Place]) -> pa.Table:
    """The rows at other places than the known ones."""
    left = [place not in known for place in places_of(rows)]
    return rows.filter(pa.array(left, pa.bool_()))


def _whole(parts: Sequence[pa.Table], schema: pa.Schema) -> list[pa.Table]:
    """The parts with all columns, in the schema's order; null where a part lacks one."""
    return [
        pa.table(
            [
                each[field.name]
                if field.name in each.column_names
                else pa.nulls(len(each), field.type)
                for field in schema
            ],
            schema=schema,
        )
        for each in parts
    ]


def _adds(added: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"add": each} for each in added]


def _metrics(added: Sequence[dict[str, Any]], parts: Sequence[pa.Table]) -> dict[str, int]:
    return {
        # Spark counts the empty file that Delta leaves out of the commit.
        "numFiles": len(added) or 1,
        "numOutputRows": sum(map(len, parts)),
        "numOutputBytes": sum(each["size"] for each in added),
    }
