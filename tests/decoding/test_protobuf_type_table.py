"""The type system, as far as Protobuf can express it."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from sluice.lake.decoding.protobuf_values import message_reader
from sluice.spec.columns import parse_columns
from sluice.spec.protobuf_columns import protobuf_columns
from sluice.spec.protobuf_schema import message_of

from tests.decoding.decoding_table import NO
from tests.decoding.type_table import NULLS, ROWS, Row
from tests.worlds.protobuf_schemas import message_class, of_file

TYPES = {
    "INT": "int32",
    "BIGINT": "int64",
    "DECIMAL(20,0)": "uint64",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BOOLEAN": "bool",
    "STRING": "string",
    "BINARY": "bytes",
    "TIMESTAMP": "google.protobuf.Timestamp",
}
FIELDS = " ".join(f"optional {kind} f{n} = {n};" for n, kind in enumerate(TYPES.values(), 1))
SOURCE = (
    'syntax = "proto3"; package p; import "google/protobuf/timestamp.proto";'
    f" message M {{ {FIELDS} }}"
)
PLACES = {name: place for place, name in enumerate(TYPES)}
EXPRESSED = [each for each in (*ROWS, *NULLS) if each.type in TYPES and each.value is not NO]
M = message_class(SOURCE, "p.M")
read = message_reader(message_of(of_file(SOURCE), "p.M"))


def test_each_type_has_its_field() -> None:
    declared = ", ".join(f"f{n} {name}" for n, name in enumerate(TYPES, 1))
    assert protobuf_columns(of_file(SOURCE), "p.M") == parse_columns(declared)


@pytest.mark.parametrize("row", EXPRESSED, ids=str)
def test_the_same_value_lands(row: Row) -> None:
    place, made, value = PLACES[row.type], M(), row.value
    if row.type == "TIMESTAMP" and value is not None:
        made.f9.FromDatetime(value)
        value = (value - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    elif value is not None:
        setattr(made, f"f{place + 1}", int(value) if isinstance(value, Decimal) else value)
    found = read(made.SerializeToString())
    assert isinstance(found, tuple)
    assert (found[place], type(found[place])) == (
        value,
        int if isinstance(value, Decimal) else type(value),
    )
