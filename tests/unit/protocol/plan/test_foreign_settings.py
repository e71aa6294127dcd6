"""Settings of others that stop a batch or are told, by the table's metadata alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from sluice.errors import TableRefused
from sluice.offsets.batches import Mode
from sluice.protocol.plan.foreign_settings import (
    foreign_settings,
    require_replaceable,
    require_usable_settings,
)
from sluice.tables.delta_log import DeltaLog
from sluice.tables.delta_snapshot import DeltaSnapshot

from tests.unit.builders import batch, offsets, spec

SPEC = spec(format={"type": "json", "schema": "id BIGINT, name STRING"})


def table(
    place: Path, properties: dict[str, str], nullable: bool = True, **of_id: Any
) -> DeltaSnapshot:
    """A table whose second version sets properties, and what the metadata say of column `id`."""
    write_deltalake(place, pa.table({"id": [1], "name": ["a"]}))
    log = place / "_delta_log"
    lines = map(json.loads, (log / f"{0:020d}.json").read_text().splitlines())
    (metadata,) = [each["metaData"] for each in lines if "metaData" in each]
    schema = json.loads(metadata["schemaString"])
    schema["fields"][0] |= {"metadata": of_id, "nullable": nullable}
    metadata |= {"schemaString": json.dumps(schema), "configuration": properties}
    told = {"properties": json.dumps(properties), "columns": json.dumps(["id"])}
    info = {"operation": "SET TBLPROPERTIES", "operationParameters": told}
    actions = [{"commitInfo": info}, {"metaData": metadata}]
    (log / f"{1:020d}.json").write_text("\n".join(map(json.dumps, actions)))
    return DeltaLog(str(place)).snapshot()


@pytest.mark.parametrize("mode", ["append", "replace"])
@pytest.mark.parametrize("only", ["true", "false"])
def test_a_table_that_only_appends_takes_no_batch_that_replaces(
    tmp_path: Path, only: str, mode: Mode
) -> None:
    data = table(tmp_path, {"delta.appendOnly": only})
    batches = [replace(batch(offsets(0, 5)), mode=mode)]
    if (only, mode) != ("true", "replace"):
        require_replaceable(data, batches)
        return
    with pytest.raises(TableRefused, match=r"SET TBLPROPERTIES \('delta.appendOnly' = 'false'\)"):
        require_replaceable(data, batches)


@pytest.mark.parametrize(
    ("of_id", "how"),
    [
        ({"delta.generationExpression": "length(name)"}, r"generated as length\(name\)"),
        ({"delta.identity.start": 7, "delta.identity.step": 1}, "an identity from 7"),
        ({"delta.invariants": '{"expression":"id > 0"}'}, 'held to .*id > 0"}'),
    ],
    ids=["generated", "identity", "invariant"],
)
def test_a_column_whose_values_delta_makes_or_checks_stops_the_line(
    tmp_path: Path, of_id: dict[str, Any], how: str
) -> None:
    data = table(tmp_path, {}, **of_id)
    said = rf"column id is {how}, set by version 1 \(SET TBLPROPERTIES\)"
    with pytest.raises(TableRefused, match=said):
        require_usable_settings(SPEC, data)


def test_a_rule_is_told_and_stops_nothing_where_rows_can_be_judged(tmp_path: Path) -> None:
    data = table(tmp_path, {"delta.constraints.pos": "id > 0"}, nullable=False)
    require_usable_settings(SPEC, data)
    assert list(foreign_settings(SPEC, data)) == [
        f"the table's {rule}, set by version 1 (SET TBLPROPERTIES): records that break it go to"
        " quarantine"
        for rule in ("NOT NULL of id", "CHECK constraint pos (id > 0)")
    ]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("delta.madeUp", True),
        ("delta.randomizeFilePrefixes", True),
        ("theirs", False),
        ("delta.enableRowTracking", False),
        ("delta.columnMapping.maxColumnId", False),
        ("delta.writePartitionColumnsToParquet", False),
        ("delta.logRetentionDuration", False),
    ],
)
def test_a_property_of_delta_that_is_not_known_here_is_told(
    tmp_path: Path, key: str, told: bool
) -> None:
    data = table(tmp_path, {key: "x1"})
    require_usable_settings(SPEC, data)
    said = (
        f"the table's property {key} = 'x1', set by version 1 (SET TBLPROPERTIES): not one that"
        " Sluice knows"
    )
    assert list(foreign_settings(SPEC, data)) == ([said] if told else [])
