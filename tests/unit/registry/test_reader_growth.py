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


def record(key: str, name: str) -> RegisteredSchema:
    fields = [{"name": "id", "type": "long"}]
    text = {"type": "record", "name": name, "namespace": "shop", "fields": fields}
    return RegisteredSchema(key, "AVRO", json.dumps(text))


@pytest.mark.parametrize(("only", "told"), [({"record": "shop.A"}, 0), (None, 1)])
def test_a_record_that_only_leaves_out_is_not_told(only: dict[str, str] | None, told: int) -> None:
    form = {"type": "avro", "registry": "r"}
    spec = PipelineSpec.model_validate(spec_keys(format=form, **({"only": only} if only else {})))
    found = grown(spec, "value", record("5", "A"), [record("63", "B")], ())
    assert found.value.key == "5"
    assert len(found.notes) == told


def test_a_mistyped_record_is_told_with_the_one_of_the_schema() -> None:
    form = {"type": "avro", "registry": "r"}
    keys = spec_keys(format=form, only={"record": "shop.Oder"})
    spec = PipelineSpec.model_validate(keys)
    told = r"found shop.Oder \(did you mean shop.Order\?\): correct it; or write subject_strategy"
    with pytest.raises(ValueError, match=told):
        spec.with_readers({"value": record("5", "Order")})
