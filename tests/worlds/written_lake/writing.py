"""Writing: one commit of rows to a table, from the version that it was begun at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sluice.clock import Chance, Clock
from sluice.offsets.batches import Batch
from sluice.offsets.ranges import TopicPartition
from sluice.spec.columns import Column

from tests.worlds.written_lake.commit import Committer, Draft
from tests.worlds.written_lake.conflicts import Basis
from tests.worlds.written_lake.data_files import FileWriter, read_rows, removal
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.replaced import Rows
from tests.worlds.written_lake.state import StoredFile, TableState
from tests.worlds.written_lake.types import Field, arrow_schema, field_of


class Writing:
    """A write that is based on a table's state."""

    def __init__(
        self, state: TableState, clock: Clock, chance: Chance, switch: Callable[[str], None]
    ) -> None:
        self._state = state
        self._clock, self._chance, self._switch = clock, chance, switch

    def has_landed(self, batch: Batch) -> bool:
        """Whether the batch's transaction version is recorded: Delta then skips the write."""
        return (self._state.transaction(batch.sequence.app_id) or 0) >= batch.number

    def append(
        self, parts: Sequence[pa.Table], batch: Batch, told: str, columns: Sequence[Column]
    ) -> None:
        """Add rows, in a blind append."""
        fields = self._fields(columns)
        added = self._files(fields).write(_whole(parts, arrow_schema(fields)))
        parameters = {"mode": "Append", "partitionBy": "[]", "canMergeSchema": True}
        actions = [*self._transaction(batch), *self._metadata(fields), *_adds(added)]
        self._commit(
            Draft(
                self._state.uri,
                self._state.version,
                "WRITE",
                parameters,
                actions,
                _metrics(added, parts),
                told,
                basis=Basis(batch.sequence.app_id),
            )
        )

    def replace(
        self,
        parts: Sequence[pa.Table],
        where: Rows,
        told: str,
        batch: Batch | None = None,
        columns: Sequence[Column] = (),
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
        if batch is None and not (added or removed):
            # Delta records no empty commit.
            return
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
        ids = self._transaction(batch) if batch else []
        self._commit(
            Draft(
                self._state.uri,
                self._state.version,
                "WRITE",
                {**mode, "canMergeSchema": True} if batch else mode,
                [*ids, *self._metadata(fields), *_adds(added), *removed, *_adds(moved)],
                metrics,
                told,
                blind=False,
                basis=Basis(
                    batch.sequence.app_id if batch else None,
                    where.may_be_in,
                    frozenset(each.path for each in candidates),
                    frozenset(each.path for each in touched),
                ),
            )
        )

    def rows_besides(self, where: Rows, known: Collection[tuple[TopicPartition, int]]) -> pa.Table:
        """Of the rows that `where` names, those at other places than the known ones."""
        schema = self._state.schema
        parts = [schema.empty_table()]
        for each in self._candidates(where):
            rows = read_rows(self._state.uri, each, schema)
            mine = rows.filter(where.mask(rows))
            places = zip(
                mine["_topic"].to_pylist(),
                mine["_partition"].to_pylist(),
                mine["_offset"].to_pylist(),
                strict=True,
            )
            left = [
                (TopicPartition(topic, number), at) not in known for topic, number, at in places
            ]
            parts.append(mine.filter(pa.array(left, pa.bool_())))
        return pa.concat_tables(parts)

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

    def _transaction(self, batch: Batch) -> list[dict[str, Any]]:
        now = milliseconds(self._clock.now())
        recorded = {"appId": batch.sequence.app_id, "version": batch.number, "lastUpdated": now}
        return [{"txn": recorded}]

    def _commit(self, draft: Draft) -> None:
        self._switch("lake: files written")
        Committer(self._clock, self._chance).commit(draft)
        self._switch("lake: committed")


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
