"""Which schema becomes the one that all records are read as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.registry.reader_choice import choose_reader
from sluice.spec.formats import AvroFormat
from sluice.spec.pipeline_spec import Evolution
from sluice.spec.registered import RegisteredSchema

FORM = AvroFormat(type="avro", registry="r")


def schema(key: int, name: str = "Order", **fields: Any) -> RegisteredSchema:
    listed = [{"name": each, "type": kind} for each, kind in fields.items()]
    text = json.dumps({"type": "record", "name": name, "fields": listed})
    return RegisteredSchema(str(key), "AVRO", text)


OLD = schema(5, id="int")


@pytest.mark.parametrize(
    ("found", "evolution", "key", "why"),
    [
        (OLD, "widen", "5", ""),
        (schema(4, id="int", city="string"), "widen", "5", ""),
        (schema(6, id="int"), "strict", "6", ""),
        (schema(6, id="int", city="string"), "strict", "5", "it adds city STRING"),
        (schema(6, id="int", city="string"), "add_columns", "6", ""),
        (schema(6, id="long"), "add_columns", "5", "it changes id from INT to BIGINT"),
        (schema(6, id="long"), "widen", "6", ""),
        (schema(6, id="string"), "widen", "5", "it changes id from INT to STRING"),
        (schema(6, city="string"), "widen", "5", "it lacks id INT"),
        (schema(6, name="Return", id="int", city="string"), "widen", "5", "another record, Return"),
    ],
)
def test_the_reader_moves_only_as_evolution_allows(
    found: RegisteredSchema, evolution: Evolution, key: str, why: str
) -> None:
    choice = choose_reader(FORM, OLD, found, evolution)
    assert (choice.reader.key, bool(choice.kept_for)) == (key, bool(why))
    assert why in choice.kept_for


def test_a_schema_that_no_table_can_hold_is_not_taken() -> None:
    again = {"type": "record", "name": "Order", "fields": [{"name": "next", "type": "Order"}]}
    found = RegisteredSchema("6", "AVRO", json.dumps(again))
    choice = choose_reader(FORM, OLD, found, "widen")
    assert choice.reader == OLD
    assert "Order" in choice.kept_for


def test_a_guid_says_nothing_of_which_schema_is_newer() -> None:
    again = RegisteredSchema("89791762-2336-4186-9674-299b90a802e2", "AVRO", OLD.text)
    assert choose_reader(FORM, OLD, again, "widen").reader == OLD


@pytest.mark.parametrize("name", ["_offset", "_error", "_mine"])
def test_a_name_that_is_sluices_own_is_no_column(name: str) -> None:
    choice = choose_reader(FORM, OLD, schema(6, id="int", **{name: "long"}), "add_columns")
    assert choice.reader == OLD
    assert f"{name}: names that start with _ are Sluice's own" in choice.kept_for


def test_a_schema_of_another_kind_is_none_for_the_format() -> None:
    found = RegisteredSchema("6", "JSON", '{"type": "object"}')
    choice = choose_reader(FORM, OLD, found, "add_columns")
    assert (choice.reader, choice.kept_for) == (
        OLD,
        "expected a schema of kind AVRO, found JSON",
    )
