"""What Connect and Debezium name a type is the logical type that it means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.schemas.avro.columns import avro_declared
from sluice.schemas.avro.connect_names import meant
from sluice.schemas.registered import Reference, RegisteredSchema

TIMES, CONNECTS = "io.debezium.time", "org.apache.kafka.connect.data"


def schema(*fields: Any, references: tuple[Reference, ...] = ()) -> RegisteredSchema:
    named = [{"name": f"f{n}", "type": each} for n, each in enumerate(fields)]
    text = json.dumps({"type": "record", "name": "Value", "fields": named})
    return RegisteredSchema("1", "AVRO", text, references)


@pytest.mark.parametrize(
    ("carrier", "name", "column"),
    [
        ("int", f"{TIMES}.Date", "DATE"),
        ("int", f"{TIMES}.Time", "STRING"),
        ("long", f"{TIMES}.MicroTime", "STRING"),
        ("long", f"{TIMES}.NanoTime", "STRING"),
        ("long", f"{TIMES}.Timestamp", "TIMESTAMP"),
        ("long", f"{TIMES}.MicroTimestamp", "TIMESTAMP"),
        ("long", f"{TIMES}.NanoTimestamp", "TIMESTAMP"),
        ("string", f"{TIMES}.ZonedTimestamp", "TIMESTAMP"),
        ("string", f"{TIMES}.IsoDate", "DATE"),
        ("int", f"{CONNECTS}.Date", "DATE"),
        ("int", f"{CONNECTS}.Time", "STRING"),
        ("long", f"{CONNECTS}.Timestamp", "TIMESTAMP"),
        ("bytes", f"{CONNECTS}.Decimal", "BINARY"),
        ("long", f"{TIMES}.MicroDuration", "BIGINT"),
        ("string", f"{TIMES}.Timestamp", "STRING"),
        ("string", "io.debezium.data.Json", "STRING"),
    ],
)
def test_a_name_is_a_column_of_what_it_means(carrier: str, name: str, column: str) -> None:
    found = schema(["null", {"type": carrier, "connect.name": name}])
    assert avro_declared(meant(found)).columns == parse_columns(f"f0 {column}")


def test_a_decimal_with_a_scale_of_its_own_is_text() -> None:
    name = "io.debezium.data.VariableScaleDecimal"
    fields = [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}]
    decimal = {"type": "record", "name": name, "fields": fields, "connect.name": name}
    found = schema(["null", decimal], {"type": "array", "items": name})
    assert avro_declared(meant(found)).columns == parse_columns("f0 STRING, f1 ARRAY<STRING>")
    assert avro_declared(found).columns[0].type != avro_declared(meant(found)).columns[0].type


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ({}, "DECIMAL(38,2)"),
        ({"connect.parameters": {"scale": "2", "connect.decimal.precision": "9"}}, "DECIMAL(9,2)"),
        ({"logicalType": "decimal", "precision": 64, "scale": 4}, "DECIMAL(38,4)"),
        ({"logicalType": "decimal", "precision": 5, "scale": 2}, "DECIMAL(5,2)"),
        ({"connect.parameters": {"scale": "-1"}}, "BINARY"),
    ],
)
def test_a_decimal_has_the_scale_of_its_parameters(written: Any, column: str) -> None:
    named = {"type": "bytes", "connect.name": f"{CONNECTS}.Decimal"}
    found = schema({**named, "connect.parameters": {"scale": "2"}, **written})
    assert avro_declared(meant(found)).columns == parse_columns(f"f0 {column}")


def test_what_a_type_says_itself_comes_first() -> None:
    both = {"type": "long", "connect.name": f"{TIMES}.Timestamp", "logicalType": "timestamp-micros"}
    assert "timestamp-micros" in meant(schema(both)).text
    assert "timestamp-millis" not in meant(schema(both)).text


def test_references_are_named_as_well_and_other_texts_stay() -> None:
    text = json.dumps({"type": "int", "connect.name": f"{TIMES}.Date"})
    found = meant(schema("int", references=(Reference("a", text), Reference("b", "connect.name"))))
    assert json.loads(found.references[0].text)["logicalType"] == "date"
    assert found.references[1].text == "connect.name"
