"""Data files: the rows of a Delta table, read from its parquet files.

Not by `to_pyarrow_dataset`: it refuses deletion vectors and v2 checkpoints, and where an older
table maps its columns it reads every one of them as null (delta-rs 1.6).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyarrow.fs import FileType, PyFileSystem

from sluice.errors import TableRefused
from sluice.tables.arrow_datasets import dataset as pads
from sluice.tables.table_files import answered, files_in

Condition = tuple[str, str, Any]
"""Column, operator, value: delta-rs and pyarrow share this form."""

_MAPPING = "delta.columnMapping.mode"
_PHYSICAL_NAME = "delta.columnMapping.physicalName"
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


@dataclass(frozen=True)
class DataFile:
    """A data file by its path: below the table's folder, or absolute.

    `kept` says for each row, a byte each, whether a deletion vector has left it in; None where it
    has none.
    """

    path: str
    kept: bytes | None = None


def files_of(table: DeltaTable, wanted: Sequence[Condition] = ()) -> list[DataFile]:
    """The files that may have rows which meet the conditions, by the log's statistics.

    Raises TableRefused where the table has a feature that is not known here.
    """
    _require_readable(table)
    with answered(table.table_uri):
        uris = table.file_uris(file_pruning_predicate=list(wanted) or None)
        kept = _kept_rows(table, {_name(uri) for uri in uris})
    return [DataFile(_below(table, uri), kept.get(_name(uri))) for uri in uris]


def files_named(paths: Iterable[str]) -> list[DataFile]:
    """Files by their paths in the log, which are URL-encoded."""
    return [DataFile(unquote(path)) for path in paths]


def require_files(table: DeltaTable) -> None:
    """Raises FileNotFoundError for a file that the log names and the storage does not have."""
    folder = files_in(table.table_uri)
    named = [unquote(each) for each in pa.table(table.get_add_actions())["path"].to_pylist()]
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
    parts += [reader.masked(each.path, each.kept) for each in listed if each.kept is not None]
    return pa.concat_tables(parts)


def read_chunks(
    table: DeltaTable, columns: Sequence[str], wanted: Sequence[Condition] = ()
) -> Iterator[pa.RecordBatch]:
    """As `read_files`, of all files that may have such rows, a chunk at a time."""
    reader, listed = _FileReader(table, columns, wanted), files_of(table, wanted)
    for each in reader.scans(_without_vector(listed)):
        yield from each.to_batches()
    for each in listed:
        if each.kept is not None:
            yield from reader.masked(each.path, each.kept).to_batches()


def _without_vector(files: Iterable[DataFile]) -> list[str]:
    return [each.path for each in files if each.kept is None]


class _FileReader:
    """Reads some columns of a table's files; in the files they have their physical names."""

    def __init__(
        self, table: DeltaTable, columns: Sequence[str], wanted: Sequence[Condition]
    ) -> None:
        self._folder = files_in(table.table_uri)
        fields = _fields(table, {*columns, *(name for name, _, _ in wanted)})
        physical = {name: _physical_name(each) for name, each in fields.items()}
        self._columns = {name: pads.field(physical[name]) for name in columns}
        self._schema = pa.schema([each.with_name(physical[n]) for n, each in fields.items()])
        conditions = [(physical[name], operator, value) for name, operator, value in wanted]
        self._wanted = pq.filters_to_expression(conditions) if conditions else None

    def scans(self, paths: Sequence[str]) -> list[pads.Scanner]:
        """The wanted rows of files without a deletion vector: of this folder, and elsewhere."""
        inside = [path for path in paths if not _is_absolute(path)]
        found = [self._dataset(self._folder, inside)]
        found += [self._dataset(*_elsewhere(path)) for path in paths if _is_absolute(path)]
        return [each.scanner(columns=self._columns, filter=self._wanted) for each in found]

    def masked(self, path: str, kept: bytes) -> pa.Table:
        """The wanted rows of one file that its deletion vector keeps."""
        where = _elsewhere(path) if _is_absolute(path) else (self._folder, [path])
        rows = self._dataset(*where).to_table()
        mask = np.ones(rows.num_rows, dtype=bool)
        mask[: len(kept)] = np.frombuffer(kept, dtype=bool)
        left = pads.dataset(rows.filter(pa.array(mask)))
        return left.to_table(columns=self._columns, filter=self._wanted)

    def _dataset(self, files: PyFileSystem, paths: Sequence[str]) -> pads.Dataset:
        return pads.FileSystemDataset.from_paths(
            list(paths), schema=self._schema, format=pads.ParquetFileFormat(), filesystem=files
        )


def _require_readable(table: DeltaTable) -> None:
    protocol, properties = table.protocol(), table.metadata().configuration
    mapping = properties.get(_MAPPING, "none")
    if mapping not in ("none", "name"):
        raise TableRefused(
            f"{table.table_uri}: expected property {_MAPPING} = 'name' or 'none', found"
            f" {mapping!r}: its columns cannot be told. ALTER TABLE … SET TBLPROPERTIES"
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


def _fields(table: DeltaTable, columns: Iterable[str]) -> Mapping[str, pa.Field]:
    schema = pa.schema(table.schema().to_arrow())
    lacking = sorted({*columns} - {*schema.names})
    if lacking:
        raise TableRefused(
            f"{table.table_uri}: expected the columns {', '.join(lacking)}, found none of that"
            " name. RESTORE the table to a version before they were renamed or dropped."
        )
    fields = {name: schema.field(name) for name in columns}
    for name, each in fields.items():
        if pa.types.is_nested(each.type) and _physical_name(each) != name:
            raise TableRefused(
                f"{table.table_uri}: {name}: expected property {_MAPPING} = 'none' for a nested"
                " column, found names that are mapped. ALTER TABLE … SET TBLPROPERTIES"
                f" ('{_MAPPING}' = 'none'), and run again."
            )
    return fields


def _physical_name(field: pa.Field) -> str:
    metadata: Mapping[bytes, bytes] = field.metadata or {}
    name: bytes = metadata.get(_PHYSICAL_NAME.encode(), field.name.encode())
    return name.decode()


def _kept_rows(table: DeltaTable, names: Collection[str]) -> dict[str, bytes]:
    """Which rows each deletion vector keeps, by the name of the file, which no other file has."""
    if "deletionVectors" not in (table.protocol().reader_features or []):
        return {}
    vectors = pa.table(table.deletion_vectors())
    files = (_name(unquote(each.as_py())) for each in vectors["filepath"])
    return {
        name: vector.values.to_numpy(zero_copy_only=False).tobytes()
        for name, vector in zip(files, vectors["selection_vector"], strict=True)
        if name in names
    }


def _name(path: str) -> str:
    _, _, name = path.rpartition("/")
    return name


def _below(table: DeltaTable, uri: str) -> str:
    """The path of a file below the table's folder; as it is where it lies elsewhere.

    Of a shallow clone's files delta-rs puts the folder before their URI.
    """
    place = urlparse(table.table_uri)
    root = unquote(place.path) if place.scheme == "file" else table.table_uri
    below: str = uri.removeprefix(f"{root.rstrip('/')}/")
    return unquote(urlparse(below).path) if below.startswith("file:/") else below


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or "://" in path


def _elsewhere(path: str) -> tuple[PyFileSystem, list[str]]:
    folder, _, name = path.rpartition("/")
    return files_in(folder), [name]
