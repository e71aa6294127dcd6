"""The types that Connect's JSON Schema converter names are the columns that they mean."""

from __future__ import annotations

import json
from typing import Any

from sluice.columns.columns import parse_columns
from sluice.schemas.json.connect_titles import connect_types
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.worlds.debezium_events import registered_json

FORM = {"type": "json", "registry": "r", "envelope": "debezium"}
BASE = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p", "format": FORM}


def schema(**properties: Any) -> RegisteredSchema:
    return RegisteredSchema("1", "JSON", json.dumps({"type": "object", "properties": properties}))


def test_the_rows_columns_are_what_the_titles_mean() -> None:
    spec = PipelineSpec.model_validate(BASE).with_readers({"value": registered_json()})
    assert spec.columns == parse_columns(
        "id BIGINT, amount DECIMAL(38,2), free STRING, born DATE, at_us TIMESTAMP, zoned TIMESTAMP,"
        " _op STRING, _source STRING, _source_time TIMESTAMP"
    )


def test_a_row_without_an_event_around_it_has_these_columns_too() -> None:
    properties = json.loads(registered_json().text)["properties"]["after"]["oneOf"][1]["properties"]
    spec = PipelineSpec.model_validate({**BASE, "format": {**FORM, "envelope": "connect"}})
    found = spec.with_readers({"value": schema(**properties, ID={"type": "string"})})
    assert found.columns == parse_columns(
        "id BIGINT, amount DECIMAL(38,2), free STRING, born DATE, at_us TIMESTAMP, zoned TIMESTAMP"
    )
    (told,) = found.formats.told()
    assert told.startswith("format: no column holds $.ID: declared twice")


def test_other_schemas_name_none() -> None:
    assert connect_types(schema(after={"type": "string"}), "after") == {}
    assert connect_types(schema(after={"oneOf": "x", "properties": {"a": 1}}), "after") == {}
    assert connect_types(RegisteredSchema("1", "JSON", "true"), "after") == {}
    assert connect_types(RegisteredSchema("1", "JSON", "true"), None) == {}
