"""Messages of Confluent's and Google's are the columns that their names say."""

from __future__ import annotations

import pytest
from sluice.columns.columns import parse_columns
from sluice.schemas.protobuf.columns import protobuf_declared
from sluice.schemas.registered import RegisteredSchema

from tests.worlds.protobuf_schemas import of_file, of_registry

HEAD = """syntax = "proto3"; package p; import "confluent/meta.proto";
import "confluent/types/decimal.proto"; import "google/type/date.proto";
import "google/type/money.proto"; import "google/type/timeofday.proto"; """
PARAMS = "[(confluent.field_meta) = {params: [%s]}]"


def columns_of(field: str) -> object:
    return protobuf_declared(of_file(HEAD + f"message M {{ {field} }}"), "p.M").columns


def decimal(**params: str) -> str:
    written = ", ".join(f'{{key: "{key}", value: "{each}"}}' for key, each in params.items())
    return f"confluent.type.Decimal x = 1 {PARAMS % written};"


@pytest.mark.parametrize(
    ("field", "column"),
    [
        ("google.type.Date x = 1;", "DATE"),
        ("repeated google.type.Date x = 1;", "ARRAY<DATE>"),
        ("google.type.Money x = 1;", "STRUCT<currency_code: STRING, amount: DECIMAL(28,9)>"),
        (
            "google.type.TimeOfDay x = 1;",
            "STRUCT<hours: INT, minutes: INT, seconds: INT, nanos: INT>",
        ),
        (decimal(precision="10", scale="2"), "DECIMAL(10,2)"),
        (decimal(scale="4"), "DECIMAL(38,4)"),
        (decimal(precision="64", scale="2"), "DECIMAL(38,2)"),
        (decimal(), "STRING"),
        (decimal(precision="10"), "STRING"),
        (decimal(scale="-1"), "STRING"),
        (decimal(precision="2", scale="3"), "STRING"),
        (decimal(precision="ten", scale="2"), "STRING"),
        ("confluent.type.Decimal x = 1;", "STRING"),
        ("map<string, confluent.type.Decimal> x = 1;", "MAP<STRING, STRING>"),
    ],
)
def test_a_message_is_the_column_of_its_name(field: str, column: str) -> None:
    assert columns_of(field) == parse_columns(f"x {column}")


def test_the_options_are_read_of_any_form_of_schema() -> None:
    source = HEAD + "message M { " + decimal(precision="10", scale="2") + " }"
    schema = of_registry("7", source)
    assert schema.references == ()
    assert protobuf_declared(schema, None).columns == parse_columns("x DECIMAL(10,2)")
    assert isinstance(schema, RegisteredSchema)


def test_a_message_that_only_has_such_a_name_is_read_as_it_is() -> None:
    source = """syntax = "proto3"; package google.type;
    message M { Date d = 1; } message Date { int32 year = 1; string month = 2; }"""
    found = protobuf_declared(of_file(source), "google.type.M").columns
    assert found == parse_columns("d STRUCT<year: INT, month: STRING>")
