"""Files of the offsets table at one version: which may have the wanted rows, and what is in them.

delta-rs' own dataset looks at the statistics of every column of every file for each question, and
Arrow's scanner takes as long again for a file of a few rows. Here a question looks at the columns
that it names, and a small file is read once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from sluice.tables.arrow_datasets import dataset
from sluice.tables.data_files import Condition
from sluice.tables.refusals import reading_offsets
from sluice.tables.table_files import files_in

Row = dict[str, Any]
RowsByPath = dict[str, list[Row]]
"""The rows of small files by their paths; a file never changes."""

_SMALL = 1000  # rows
_CODES = pa.dictionary(pa.int32(), pa.string())
# The table's partition column, whose value no file has inside (PROTOCOL.md, Partition Values).
_EVENT = "event"
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
    event: str
    rows: int
    bounds: Mapping[str, tuple[int, int]]
    """The least and the greatest number of columns that have any, by the log's statistics."""

    def may_have(self, wanted: Condition) -> bool:
        name, how, value = wanted
        if name == _EVENT:
            return _MEETS[how](self.event, value)
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
        self._folder = files_in(self._uri, {each.path: each.size for each in self._files})
        for path in known.keys() - {each.path for each in self._files}:
            del known[path]

    def rows(self, wanted: Sequence[Condition]) -> list[Row]:
        """The rows that meet all conditions: few."""
        with reading_offsets(self._uri, self._pipeline):
            return [
                row
                for each in self._that_may_have(wanted)
                for row in self._rows(each, wanted)
                if all(_meets(row[name], how, value) for name, how, value in wanted)
            ]

    def chunks(
        self, columns: Sequence[str], wanted: Sequence[Condition], as_codes: Sequence[str]
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

    def _rows(self, file: _File, wanted: Sequence[Condition]) -> list[Row]:
        if file.path in self._known:
            return self._known[file.path]
        scanned = self._dataset([file], self._schema, dataset.ParquetFileFormat())
        if file.rows > _SMALL:
            found: list[Row] = scanned.to_table(filter=pq.filters_to_expression(wanted)).to_pylist()
            return found
        found = self._known[file.path] = scanned.to_table(use_threads=False).to_pylist()
        return found

    def _dataset(
        self, files: Sequence[_File], schema: pa.Schema, form: dataset.ParquetFileFormat
    ) -> dataset.Dataset:
        return dataset.FileSystemDataset.from_paths(
            [each.path for each in files],
            schema=schema,
            format=form,
            filesystem=self._folder,
            partitions=[dataset.field(_EVENT) == each.event for each in files],
        )


def _files(named: pa.Table) -> list[_File]:
    numbers = [
        each.name.removeprefix("min.")
        for each in named.schema
        if each.name.startswith("min.") and pa.types.is_integer(each.type)
    ]
    columns = ["path", "size_bytes", f"partition.{_EVENT}", "num_records"]
    columns += [f"{end}.{name}" for name in numbers for end in ("min", "max")]
    return [_file(row, numbers) for row in named.select(columns).to_pylist()]


def _file(row: Row, numbers: Sequence[str]) -> _File:
    bounds = {name: (row[f"min.{name}"], row[f"max.{name}"]) for name in numbers}
    known = {name: each for name, each in bounds.items() if None not in each}
    # Without a count it may be large.
    rows = _SMALL + 1 if row["num_records"] is None else row["num_records"]
    path, event = unquote(row["path"]), row[f"partition.{_EVENT}"]
    return _File(path, row["size_bytes"], event, rows, known)


def _meets(found: Any, how: str, wanted: Any) -> bool:
    """As in SQL, null meets none of these conditions."""
    return found is not None and _MEETS[how](found, wanted)
