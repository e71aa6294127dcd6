"""Table creation and alignment: a table's first commit, and later ones that change no row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sluice.clock import Chance, Clock
from sluice.columns.columns import Column, parse_columns
from sluice.columns.names import quoted
from sluice.errors import CommitConflict
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.statistics_columns import statistics_columns
from sluice.spec_file.table_properties import wanted_properties
from sluice.tables.delta_log import DeltaLog
from sluice.tables.ownership import OWNER
from sluice.tables.storage import clear_leftovers

from tests.worlds.written_lake.commit import Committer, Draft
from tests.worlds.written_lake.data_files import dashed
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.state import TableState
from tests.worlds.written_lake.types import Field, field_of, schema_text

_STATISTICS = "delta.dataSkippingStatsColumns"
QUARANTINE = parse_columns(
    "_topic STRING, _topic_id STRING, _partition INT, _offset BIGINT, _timestamp TIMESTAMP,"
    " _key BINARY, _headers ARRAY<STRUCT<key: STRING, value: BINARY>>,"
    " value BINARY, error STRING, _batch STRING, quarantined_at TIMESTAMP"
)


class Tables:
    """Creates the tables of pipelines, and changes their settings."""

    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock, self._chance = clock, chance
        self._committer = Committer(clock, chance)

    def create_data(self, uri: str, spec: PipelineSpec) -> None:
        """The data table, unless it exists."""
        columns = (*spec.shape.columns, *spec.formats.our_columns)
        statistics = ",".join(map(quoted, statistics_columns(spec.shape)))
        further = wanted_properties(spec.evolution, spec.properties)
        self._create(uri, spec, columns, statistics, further)

    def create_quarantine(self, uri: str, spec: PipelineSpec) -> None:
        """The quarantine table, unless it exists."""
        self._create(uri, spec, QUARANTINE, "_topic_id,_partition,_offset,_timestamp,_batch", None)

    def create_state(
        self, uri: str, spec: PipelineSpec, columns: Iterable[Column], statistics: Iterable[str]
    ) -> None:
        """The state table, unless it exists."""
        self._create(uri, spec, columns, ",".join(map(quoted, statistics)), None)

    def _create(
        self,
        uri: str,
        spec: PipelineSpec,
        columns: Iterable[Column],
        statistics: str,
        further: Mapping[str, str] | None,
    ) -> None:
        if DeltaLog(uri).exists():
            return
        clear_leftovers(uri)
        if Path(uri).exists():
            raise FileExistsError(f"{uri}: expected a Delta table, or nothing, found other files.")
        is_data = further is not None
        properties = {
            OWNER: spec.pipeline,
            _STATISTICS: statistics,
            "sluice.version": "2",
            **(further or {}),
        }
        fields = [field_of(each, spec.comments.get(each.name)) for each in columns]
        partition_by = list(spec.partition_by) if is_data else []
        now = milliseconds(self._clock.now())
        metadata = {
            "id": dashed(self._chance.name()),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": schema_text(fields),
            "partitionColumns": partition_by,
            "configuration": properties,
            "createdTime": now,
        }
        parameters = {
            "partitionBy": _json(partition_by),
            "clusterBy": "[]",
            "description": None,
            "isManaged": "false",
            "properties": _json(properties),
        }
        protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
        actions: list[dict[str, Any]] = [{"metaData": metadata}, {"protocol": protocol}]
        try:
            self._committer.commit(Draft(uri, -1, "CREATE TABLE", parameters, actions))
        except CommitConflict:
            # Another process has created it.
            if not DeltaLog(uri).exists():
                raise

    def align(self, uri: str, spec: PipelineSpec) -> None:
        """Set the properties and comments that the table lacks, each in a commit of its own.

        Where another commit comes in between, the next run does it.
        """
        wanted = wanted_properties(spec.evolution, spec.properties)
        settings = DeltaLog(uri).snapshot().settings
        properties = settings.lacking_properties(wanted)
        try:
            if properties:
                self._change(
                    uri, "SET TBLPROPERTIES", {"properties": _json(properties)}, properties
                )
            for name, text in settings.lacking_comments(spec.comments).items():
                self._comment(uri, name, text)
        except CommitConflict:
            return

    def _comment(self, uri: str, name: str, text: str) -> None:
        fields = [
            {**each, "metadata": {**each["metadata"], "comment": text}}
            if each["name"] == name
            else each
            for each in TableState(uri).fields
        ]
        changed = next(each for each in fields if each["name"] == name)
        self._change(uri, "CHANGE COLUMN", {"column": _json(changed)}, {}, fields)

    def _change(
        self,
        uri: str,
        operation: str,
        parameters: Mapping[str, Any],
        properties: Mapping[str, str],
        fields: list[Field] | None = None,
    ) -> None:
        state = TableState(uri)
        actions = [{"metaData": state.metadata(fields, properties)}]
        self._committer.commit(Draft(uri, state.version, operation, parameters, actions))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
