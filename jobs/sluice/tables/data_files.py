"""Data files: the rows of a Delta table, read from its parquet files.

Not by `to_pyarrow_dataset`: it refuses deletion vectors and v2 checkpoints, and where an older
table maps its columns it reads every one of them as null (delta-rs 1.6).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable
from pyarrow.fs import FileType, PyFileSystem

from sluice.errors import TableRefused
from sluice.tables.arrow_datasets import dataset as pads
from sluice.tables.conditions import met
from sluice.tables.deletion_vectors import kept_rows
from sluice.tables.logged_files import LoggedFile
from sluice.tables.logged_vectors import logged_vectors
from sluice.tables.partition_values import Values, guarantee, values_by_file, values_of
from sluice.tables.physical_columns import (
    fields_of,
    physical_field,
    physical_name,
    renamed,
)
from sluice.tables.table_files import answered, files_in, files_of_table

Condition = tuple[str, str, Any]
"""Column, operator, value: delta-rs and pyarrow share this form."""

_MAPPING = "delta.columnMapping.mode"
_NEWEST_READER = 3
# Reader features (PROTOCOL.md, Valid Feature Names) with which our columns are read as below.
_READABLE = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantType",
        "variantType-preview",
    }
)
# With these delta-rs tells no deletion vectors (1.6).
_NO_VECTORS = frozenset({"typeWidening", "typeWidening-preview"})


@dataclass(frozen=True)
class DataFile:
    """A data file by its path: below the table's folder, or absolute.

    `kept` says for each row, a byte each, whether a deletion vector has left it in; None where it
    has none. `partition` are the values of its partition columns.
    """

    path: str
    kept: bytes | None = None
    partition: Values = ()


def files_of(table: DeltaTable, wanted: Sequence[Condition] = ()) -> list[DataFile]:
    """The files that may have rows which meet the conditions, by the log's statistics.

    Raises TableRefused where the table has a feature that is not known here.
    """
    _require_readable(table)
    with answered(table.table_uri):
        uris = table.file_uris(file_pruning_predicate=list(wanted) or None)
        kept = _kept_rows(table, {_name(uri) for uri in uris})
        values = values_by_file(table)
    names = {uri: _name(uri) for uri in uris}
    return [DataFile(_below(table, e), kept.get(n), values.get(n, ())) for e, n in names.items()]


def files_named(table: DeltaTable, files: Iterable[LoggedFile]) -> list[DataFile]:
    """Files as commits name them, of the table by now or not. Raises as `values_of`."""
    return [DataFile(unquote(each.path), None, values_of(table, each)) for each in files]


def require_files(table: DeltaTable, wanted: Sequence[Condition] = ()) -> None:
    """Raises FileNotFoundError for a file of such rows that the storage does not have.

    What a clone names elsewhere is not looked for.
    """
    folder = files_of_table(table.table_uri)
    named = [each.path for each in files_of(table, wanted) if not _is_absolute(each.path)]
    for each in folder.get_file_info(named):
        if each.type is FileType.NotFound:
            raise FileNotFoundError(each.path)


def read_files(
    table: DeltaTable,
    files: Iterable[DataFile],
    columns: Sequence[str],
    wanted: Sequence[Condition] = (),
) -> pa.Table:
    """Columns of the rows in these files that meet the conditions.

    Raises TableRefused for columns that the table lacks, FileNotFoundError for files that are gone.
    """
    reader = _FileReader(table, columns, wanted)
    listed = list(files)
    parts = [each.to_table() for each in reader.scans(_without_vector(listed))]
    parts += [reader.masked(each, each.kept) for each in listed if each.kept is not None]
    return pa.concat_tables([reader.named(each) for each in parts])


def read_chunks(
    table: DeltaTable, columns: Sequence[str], wanted: Sequence[Condition] = ()
) -> Iterator[pa.RecordBatch]:
    """As `read_files`, of all files that may have such rows, a chunk at a time."""
    reader, listed = _FileReader(table, columns, wanted), files_of(table, wanted)
    for each in reader.scans(_without_vector(listed)):
        yield from map(reader.named_chunk, each.to_batches())
    for each in listed:
        if each.kept is not None:
            yield from reader.named(reader.masked(each, each.kept)).to_batches()


def _without_vector(files: Iterable[DataFile]) -> list[DataFile]:
    return [each for each in files if each.kept is None]


class _FileReader:
    """Reads some columns of a table's files; in the files they have their physical names."""

    def __init__(
        self, table: DeltaTable, columns: Sequence[str], wanted: Sequence[Condition]
    ) -> None:
        self._folder = files_of_table(table.table_uri)
        fields = fields_of(table, [*columns, *(name for name, _, _ in wanted)])
        physical = {name: physical_name(each) for name, each in fields.items()}
        self._columns = {name: pads.field(physical[name]) for name in columns}
        self._names = pa.schema([fields[name].remove_metadata() for name in columns])
        self._schema = pa.schema([physical_field(each) for each in fields.values()])
        conditions = [met(self._schema.field(physical[n]), *e) for n, *e in wanted]
        self._wanted = reduce(and_, conditions) if conditions else None

    def named(self, rows: pa.Table) -> pa.Table:
        """The rows under the names of the table, not of its files."""
        chunks = [renamed(each, self._names) for each in rows.to_batches()]
        return pa.Table.from_batches(chunks, self._names)

    def named_chunk(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """A chunk under the names of the table."""
        return renamed(rows, self._names)

    def scans(self, files: Sequence[DataFile]) -> list[pads.Scanner]:
        """The wanted rows of files without a deletion vector: of this folder, and elsewhere."""
        inside = [each for each in files if not _is_absolute(each.path)]
        outside = [each for each in files if _is_absolute(each.path)]
        found = [self._dataset(self._folder, inside), *map(self._alone, outside)]
        return [each.scanner(columns=self._columns, filter=self._wanted) for each in found]

    def masked(self, file: DataFile, kept: bytes) -> pa.Table:
        """The wanted rows of one file that its deletion vector keeps."""
        rows = self._alone(file).to_table()
        mask = np.ones(rows.num_rows, dtype=bool)
        mask[: len(kept)] = np.frombuffer(kept, dtype=bool)
        left = pads.dataset(rows.filter(pa.array(mask)))
        return left.to_table(columns=self._columns, filter=self._wanted)

    def _alone(self, file: DataFile) -> pads.Dataset:
        if not _is_absolute(file.path):
            return self._dataset(self._folder, [file])
        folder, _, name = file.path.rpartition("/")
        return self._dataset(files_in(folder), [replace(file, path=name)])

    def _dataset(self, place: PyFileSystem, files: Sequence[DataFile]) -> pads.Dataset:
        return pads.FileSystemDataset.from_paths(
            [each.path for each in files],
            schema=self._schema,
            format=pads.ParquetFileFormat(),
            filesystem=place,
            partitions=[guarantee(each.partition, self._schema) for each in files],
        )


def _require_readable(table: DeltaTable) -> None:
    protocol, properties = table.protocol(), table.metadata().configuration
    mapping = properties.get(_MAPPING, "none")
    if mapping not in ("none", "name"):
        raise TableRefused(
            f"{table.table_uri}: expected property {_MAPPING} = 'name' or 'none', found"
            f" {mapping!r}: its columns cannot be read. ALTER TABLE … SET TBLPROPERTIES"
            f" ('{_MAPPING}' = 'none'), and run again."
        )
    unknown = sorted({*(protocol.reader_features or [])} - _READABLE)
    if protocol.min_reader_version > _NEWEST_READER:
        unknown.append(f"reader version {protocol.min_reader_version}")
    if unknown:
        raise TableRefused(
            f"{table.table_uri}: expected table features that Sluice reads, found"
            f" {', '.join(unknown)}. Remove them with ALTER TABLE … DROP FEATURE; then run again."
        )


def _kept_rows(table: DeltaTable, names: Collection[str]) -> Mapping[str, bytes]:
    """Which rows each deletion vector keeps, by the name of the file, which no other file has."""
    features = {*(table.protocol().reader_features or [])}
    if "deletionVectors" not in features:
        return {}
    if features & _NO_VECTORS:
        uri, vectors = table.table_uri, logged_vectors(table, names)
        return {name: kept_rows(uri, vector) for name, vector in vectors.items()}
    told = pa.table(table.deletion_vectors())
    files = (_name(unquote(each.as_py())) for each in told["filepath"])
    return {
        name: vector.values.to_numpy(zero_copy_only=False).tobytes()
        for name, vector in zip(files, told["selection_vector"], strict=True)
        if name in names
    }


def _name(path: str) -> str:
    _, _, name = path.rpartition("/")
    return name


def _below(table: DeltaTable, uri: str) -> str:
    """The path of a file below the table's folder; unchanged if the file lies elsewhere.

    For the files of a shallow clone, delta-rs puts the folder before their URI.
    """
    place = urlparse(table.table_uri)
    root = unquote(place.path) if place.scheme == "file" else table.table_uri
    below: str = uri.removeprefix(f"{root.rstrip('/')}/")
    return unquote(urlparse(below).path) if below.startswith("file:/") else below


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or "://" in path
