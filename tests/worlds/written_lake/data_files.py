"""Data files: rows written as parquet, with their `add` actions, and read again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sluice.clock import Chance, Clock

from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.state import StoredFile
from tests.worlds.written_lake.statistics import statistics
from tests.worlds.written_lake.types import typed, written

_NULL = "__HIVE_DEFAULT_PARTITION__"
# What Hive escapes in a folder's name.
_ESCAPED = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""")


@dataclass(frozen=True)
class FileWriter:
    """Writes rows into a table's folder. `columns` have statistics."""

    uri: str
    schema: pa.Schema
    partition_by: Sequence[str]
    columns: Sequence[str]
    clock: Clock
    chance: Chance

    def write(self, parts: Iterable[pa.Table], *, changes: bool = True) -> list[dict[str, Any]]:
        """The `add` action of each file: one for each part, and for each partition's rows of it."""
        found = (each for part in parts for each in self._by_partition(part.cast(self.schema)))
        return [self._write(*each, n, changes) for n, each in enumerate(found)]

    def _by_partition(self, rows: pa.Table) -> Iterator[tuple[dict[str, str | None], pa.Table]]:
        if not len(rows):
            return
        if not self.partition_by:
            yield {}, rows
            return
        keys = list(zip(*(rows[name].to_pylist() for name in self.partition_by), strict=True))
        for key in dict.fromkeys(keys):
            mine = rows.filter(pa.array([each == key for each in keys]))
            values = dict(zip(self.partition_by, map(written, key), strict=True))
            # Spark writes the partition's columns into its files as well, behind the others.
            others = [each for each in mine.column_names if each not in self.partition_by]
            yield values, mine.select([*others, *self.partition_by])

    def _write(
        self, values: Mapping[str, str | None], rows: pa.Table, number: int, changes: bool
    ) -> dict[str, Any]:
        folder = "".join(f"{name}={_folder(value)}/" for name, value in values.items())
        mark = "." if values else "-"
        path = f"{folder}part-{number:05d}-{dashed(self.chance.name())}{mark}c000.zstd.parquet"
        where = Path(self.uri, path)
        where.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, where, compression="zstd")
        now = self.clock.now()
        os.utime(where, (now.timestamp(), now.timestamp()))
        return {
            "path": quote(path, safe="/=-._~!$&'()*+,;:@"),
            "partitionValues": dict(values),
            "size": where.stat().st_size,
            "modificationTime": milliseconds(now),
            "dataChange": changes,
            "stats": statistics(rows, self.columns),
        }


def _folder(value: str | None) -> str:
    if value is None or not value:
        return _NULL
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", value)


def dashed(name: str) -> str:
    """32 hexadecimal digits as a UUID is written."""
    return "-".join((name[:8], name[8:12], name[12:16], name[16:20], name[20:]))


def read_rows(uri: str, file: StoredFile, schema: pa.Schema) -> pa.Table:
    """All rows of a file; null in columns that came after it."""
    path = unquote(file.path)
    found = pq.read_table(
        Path(path) if path.startswith("/") else Path(uri, path), partitioning=None
    )
    columns = []
    for field in schema:
        if field.name in file.partition:
            columns.append(typed(file.partition, field.name, field.type, len(found)))
        elif field.name in found.column_names:
            columns.append(pc.cast(found[field.name], field.type, safe=False))
        else:
            columns.append(pa.nulls(len(found), field.type))
    return pa.table(columns, schema=schema)


def removal(file: StoredFile, now: int, *, changes: bool = True) -> dict[str, Any]:
    """The `remove` action of a file."""
    return {
        "path": file.path,
        "deletionTimestamp": now,
        "dataChange": changes,
        "extendedFileMetadata": True,
        "partitionValues": dict(file.partition),
        "size": file.size,
    }
