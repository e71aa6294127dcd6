"""Which reader a pipeline has after it has seen further schemas, and what is told about it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.registry.reader_growth import grown
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
NESTED = {"properties": {"c": WHOLE}}


def schema(key: str, **properties: Any) -> RegisteredSchema:
    return RegisteredSchema(key, "JSON", json.dumps({"properties": properties}))


OLD = schema("5", id=WHOLE, a=WHOLE, n=NESTED)
KEPT = "flights: records are still read as schema 5, and not as 6: "
GONE = "flights: schema {} has no field {} any more, which columns.{} takes: it is null in records"
CHANGED = "flights: schema 6 has $.a as STRING, and schema 5 as BIGINT: columns.x still reads it as"


@pytest.mark.parametrize(
    ("newer", "told"),
    [
        ([schema("6", id=WHOLE, n=NESTED)], [GONE.format(6, "$.a", "x")]),
        ([schema("6", id=WHOLE, a=TEXT, n=NESTED)], [CHANGED]),
        ([schema("6", id=WHOLE, a=WHOLE, n=TEXT)], [KEPT]),
        ([schema("6", id=WHOLE)], [GONE.format(6, "$.a", "x"), GONE.format(6, "$.n.c", "y")]),
        (
            [schema("6", id=WHOLE, a=WHOLE, n=NESTED), schema("7", id=WHOLE, n=NESTED)],
            [GONE.format(7, "$.a", "x")],
        ),
        ([schema("6", id=WHOLE, a=WHOLE, n=NESTED, more=TEXT)], []),
        ([schema("6", a=TEXT, n=NESTED, more=TEXT)], [KEPT]),
    ],
    ids=str,
)
def test_a_taken_field_that_vanishes_or_changes_is_told(
    newer: list[RegisteredSchema], told: list[str]
) -> None:
    """Of columns that have a type of their own, no other check sees it."""
    keys = spec_keys(
        format={"type": "json", "registry": "r"},
        evolution="add_columns",
        columns={"x": {"from": "a", "type": "INT"}, "y": {"from": "$.n.c", "type": "STRING"}},
    )
    spec = PipelineSpec.model_validate(keys).with_readers({"value": OLD})
    notes = grown(spec, "value", OLD, newer, ()).notes
    assert len(notes) == len(told), notes
    assert all(note.startswith(start) for note, start in zip(notes, told, strict=True)), notes
