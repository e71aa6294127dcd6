"""A table's state at one version: its schema, its files, and what its properties say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from tests.worlds.written_lake.types import Field, arrow_schema, schema_text, written

_STATISTICS = "delta.dataSkippingStatsColumns"


class Unsupported(AssertionError):
    """The written lake does not do this: the test belongs on Spark."""


@dataclass(frozen=True)
class StoredFile:
    """A data file as the log names it, with the bounds of its columns where they are known."""

    path: str
    size: int
    rows: int
    partition: Mapping[str, str | None]
    least: Mapping[str, Any]
    greatest: Mapping[str, Any]


class TableState:
    """A table at the version that a commit is based on: the newest, or the one that is named."""

    def __init__(self, uri: str, version: int | None = None) -> None:
        self.uri = uri
        self._table = DeltaTable(uri, version=version)
        protocol = self._table.protocol()
        features = {*(protocol.reader_features or []), *(protocol.writer_features or [])}
        unknown = features - {"appendOnly", "invariants"}
        if unknown or protocol.min_reader_version > 1:
            raise Unsupported(f"{uri}: a table with the features {sorted(unknown)}")
        self._metadata = self._table.metadata()
        self.version = int(self._table.version())

    def transaction(self, app_id: str) -> int | None:
        """The version of a transaction id."""
        return self._table.transaction_version(app_id)

    @cached_property
    def fields(self) -> list[Field]:
        """The schema's fields."""
        found: list[Field] = json.loads(self._table.schema().to_json())["fields"]
        return found

    @property
    def schema(self) -> pa.Schema:
        """The schema, as Arrow has it."""
        return arrow_schema(self.fields)

    @property
    def partition_by(self) -> list[str]:
        """The partition columns."""
        return list(self._metadata.partition_columns)

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties."""
        return dict(self._metadata.configuration)

    @property
    def statistics(self) -> list[str]:
        """The columns that have statistics."""
        return statistics_columns(self.properties)

    def metadata(
        self, fields: list[Field] | None = None, properties: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The table's `metaData` action, with other fields or further properties."""
        return {
            "id": str(self._metadata.id),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema_text(fields or self.fields),
            "partitionColumns": self.partition_by,
            "configuration": self.properties | dict(properties or {}),
            "createdTime": self._metadata.created_time,
        }

    @cached_property
    def files(self) -> list[StoredFile]:
        """The table's data files."""
        rows = pa.table(self._table.get_add_actions(flatten=True)).to_pylist()
        return [_stored(each, self.partition_by) for each in rows]


def statistics_columns(properties: Mapping[str, str]) -> list[str]:
    """The columns that have statistics, by a table's properties."""
    return [each.strip("`") for each in properties.get(_STATISTICS, "").split(",") if each]


def _stored(found: Mapping[str, Any], partition_by: list[str]) -> StoredFile:
    def named(prefix: str) -> dict[str, Any]:
        return {
            key.removeprefix(prefix): value
            for key, value in found.items()
            if key.startswith(prefix) and value is not None
        }

    return StoredFile(
        found["path"],
        found["size_bytes"],
        found["num_records"],
        {name: written(found[f"partition.{name}"]) for name in partition_by},
        named("min."),
        named("max."),
    )
