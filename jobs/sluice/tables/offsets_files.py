"""Files of the offsets table at one version: which may have the wanted rows, and what is in them.

delta-rs' own dataset reads the statistics of every column of every file for each query, and
Arrow's scanner takes as long again for a file of a few rows. Here a query reads only the columns
that it names, and a small file is read once: later changes of the file are not noticed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyarrow.fs import PyFileSystem

from sluice.tables.arrow_datasets import dataset
from sluice.tables.data_files import Condition
from sluice.tables.offsets_rows import Row
from sluice.tables.refusals import reading_offsets
from sluice.tables.table_files import files_in

RowsByPath = dict[str, list[Row]]
"""The rows of small files by their paths; a file never changes."""

_SMALL = 1000  # rows
_CODES = pa.dictionary(pa.int32(), pa.string())
# The table's partition column, whose value no file has inside (PROTOCOL.md, Partition Values).
_EVENT = "event"
# The columns that questions bound. Lanes have short names: their statistics are whole.
_BOUNDED = ("format_version", "lane", "generation", "batch_id", "start_offset", "end_offset")
_MEETS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "in": lambda value, wanted: value in wanted,
    ">": operator.gt,
    ">=": operator.ge,
    "<=": operator.le,
}


@dataclass(frozen=True)
class _File:
    path: str
    size: int
    event: str | None
    """None if the table has no partitions: it is a copy that others made."""
    rows: int
    bounds: Mapping[str, tuple[Any, Any]]
    """The least and the greatest value of columns that have any, by the log's statistics."""

    def may_have(self, wanted: Condition) -> bool:
        name, how, value = wanted
        if name == _EVENT:
            return self.event is None or _MEETS[how](self.event, value)
        if name not in self.bounds or how == "in":
            return True
        least, greatest = self.bounds[name]
        if how == "=":
            return bool(least <= value <= greatest)
        return _MEETS[how](least if how == "<=" else greatest, value)


class OffsetsFiles:
    """The files of a table; `known` are rows that were read before, and gets those read here.

    All of it raises CommitUnknown or OffsetsDamaged.
    """

    def __init__(self, pipeline: str, table: DeltaTable, known: RowsByPath) -> None:
        self._pipeline = pipeline
        self._uri = table.table_uri
        self._known = known
        with reading_offsets(self._uri, pipeline):
            if table.protocol().reader_features:
                # Refused where delta-rs cannot read one of them.
                table.to_pyarrow_dataset(file_pruning_predicate=[(_EVENT, "=", "")])
            named = pa.table(table.get_add_actions(flatten=True))
            self._schema = pa.schema(table.schema().to_arrow())
        self._files = _files(named)
        self._folder: PyFileSystem | None = None
        for path in {*known} - {each.path for each in self._files}:
            # Another thread may have been faster.
            known.pop(path, None)

    @property
    def names(self) -> Collection[str]:
        """The names of the table's columns."""
        return [each.name for each in self._schema]

    def rows(self, wanted: Sequence[Condition]) -> list[Row]:
        """The rows that meet all conditions: few."""
        files = self._that_may_have(wanted)
        # As it is now: another thread may forget some of it.
        found = dict(self._known)
        with reading_offsets(self._uri, self._pipeline):
            small = [e for e in files if e.rows <= _SMALL and e.path not in found]
            read = self._read(small, None)
            self._known.update(read)
            large = [each for each in files if each.rows > _SMALL]
            found |= read | self._read(large, pq.filters_to_expression(wanted))
        return [
            row
            for each in files
            for row in found[each.path]
            if all(_meets(row[name], how, value) for name, how, value in wanted)
        ]

    def chunks(
        self, columns: Sequence[str], wanted: Sequence[Condition], as_codes: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Columns of such rows, a chunk at a time; some columns as codes of a dictionary."""
        codes = {name: self._schema.field(name).with_type(_CODES) for name in as_codes}
        schema = pa.schema(codes.get(each.name, each) for each in self._schema)
        options = dataset.ParquetReadOptions(dictionary_columns=set(as_codes))
        form = dataset.ParquetFileFormat(read_options=options)
        with reading_offsets(self._uri, self._pipeline):
            files = self._dataset(self._that_may_have(wanted), schema, form)
            yield from files.to_batches(columns=columns, filter=pq.filters_to_expression(wanted))

    def _that_may_have(self, wanted: Sequence[Condition]) -> list[_File]:
        return [each for each in self._files if all(map(each.may_have, wanted))]

    def _read(self, files: Sequence[_File], wanted: dataset.Expression | None) -> RowsByPath:
        """The rows of several files at once, by file; only those that are wanted."""
        found: RowsByPath = {each.path: [] for each in files}
        if files:
            scanned = self._dataset(files, self._schema, dataset.ParquetFileFormat())
            for each in scanned.scanner(filter=wanted).scan_batches():
                found[each.fragment.path] += each.record_batch.to_pylist()
        return found

    def _dataset(
        self, files: Sequence[_File], schema: pa.Schema, form: dataset.ParquetFileFormat
    ) -> dataset.Dataset:
        if self._folder is None:
            self._folder = files_in(self._uri, {each.path: each.size for each in self._files})
        return dataset.FileSystemDataset.from_paths(
            [each.path for each in files],
            schema=schema,
            format=form,
            filesystem=self._folder,
            partitions=[_is_of(each.event) for each in files],
        )


def _is_of(event: str | None) -> dataset.Expression:
    return dataset.scalar(True) if event is None else dataset.field(_EVENT) == event


def _files(named: pa.Table) -> list[_File]:
    """The files, from the log's actions; a column that has no statistics is not among these."""
    ends = [f"{end}.{name}" for name in _BOUNDED for end in ("min", "max")]
    asked = ("path", "size_bytes", "num_records", f"partition.{_EVENT}", *ends)
    held = [each for each in asked if each in named.schema.names]
    return [_file(row) for row in named.select(held).to_pylist()]


def _file(row: Row) -> _File:
    bounds = {name: (row.get(f"min.{name}"), row.get(f"max.{name}")) for name in _BOUNDED}
    known = {name: each for name, each in bounds.items() if None not in each}
    # Without a count it may be large.
    rows = row.get("num_records")
    count = _SMALL + 1 if rows is None else rows
    event = row.get(f"partition.{_EVENT}")
    return _File(unquote(row["path"]), row["size_bytes"], event, count, known)


def _meets(found: Any, how: str, wanted: Any) -> bool:
    """As in SQL, null meets none of these conditions."""
    return found is not None and _MEETS[how](found, wanted)
