"""What an envelope says of a row's columns, and the keys of records that have one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sluice.columns.columns import Decimal, parse_columns
from sluice.columns.connect_types import connect_type
from sluice.columns.declared import Declared, Note, possible
from sluice.columns.envelopes import ours, row_of, row_within, with_marks
from sluice.spec_file.pipeline_spec import PipelineSpec

BASE = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}
DAY = "io.debezium.time.Date"


def test_only_events_have_columns_beside_the_rows() -> None:
    row = possible(parse_columns("id INT"))
    for each in (None, "connect"):
        assert (ours(each), row_within(each)) == ((), None)
        assert row_of(row, each, {}).columns == with_marks(row, each).columns == row.columns
    assert row_within("debezium") == "after"
    assert [each.name for each in with_marks(row, "debezium").columns] == ["id", *ours("debezium")]


def test_fields_have_the_columns_of_their_named_types_and_what_was_text_is_none_then() -> None:
    day = connect_type(DAY, {})
    assert day is not None
    notes = (Note((), "whole"), Note(("at",), "two types"), Note(("more",), "two types"))
    record = Declared(
        (), (), notes, (*parse_columns("at STRING, more STRING"), *parse_columns("AT INT"))
    )
    found = row_of(record, "connect", {"at": day})
    assert found.columns == parse_columns("at DATE, more STRING")
    assert [each.place for each in found.as_text] == [(), ("more",)]
    assert [each.place for each in found.unread] == [("AT",)]


def avro(**fields: Any) -> bytes:
    made = [{"name": name, "type": each} for name, each in fields.items()]
    return json.dumps({"type": "record", "name": "Row", "fields": made}).encode()


def spec(**keys: Any) -> PipelineSpec:
    day = {"type": "int", "connect.name": DAY}
    files = {"row.avsc": avro(id="long", born=["null", day])}
    return PipelineSpec.model_validate({**BASE, **keys}, context={"files": files})


AVRO = {"type": "avro", "schema_file": "row.avsc"}
JSON = {"type": "json", "schema": "id BIGINT, _op STRING"}


def test_without_the_key_a_named_type_is_what_carries_it() -> None:
    assert spec(format=AVRO).columns == parse_columns("id BIGINT, born INT")
    assert spec(format={**AVRO, "envelope": "connect"}).columns == parse_columns(
        "id BIGINT, born DATE"
    )
    assert spec(format={**JSON, "envelope": "connect"}).columns == parse_columns(JSON["schema"])


@pytest.mark.parametrize(
    ("form", "key", "born"),
    [
        ({**AVRO, "envelope": "connect"}, AVRO, "DATE"),
        ({"type": "json", "envelope": "debezium", "schema": "id BIGINT"}, AVRO, "DATE"),
        (JSON, {**AVRO, "envelope": "connect"}, "DATE"),
        (JSON, AVRO, "INT"),
        ({"type": "raw"}, AVRO, "INT"),
    ],
)
def test_connect_wrote_the_key_where_it_wrote_the_value(form: Any, key: Any, born: str) -> None:
    found = spec(format=form, key_format=key).formats
    assert found.key_columns == parse_columns(f"_key_id BIGINT, _key_born {born}")
    implied = found.decided["key_format"].get("envelope")
    assert implied == ("connect" if born == "DATE" else None)


def test_other_keys_stay_what_they_are() -> None:
    found = spec(format={**JSON, "envelope": "connect"}, key_format="long").formats
    assert found.key_columns == parse_columns("_key_value BIGINT")


def test_a_decimal_of_a_row_has_the_digits_of_its_parameters() -> None:
    known = connect_type("org.apache.kafka.connect.data.Decimal", {"scale": "2"})
    assert known is not None
    record = possible(parse_columns("amount STRING"))
    (column,) = row_of(record, "connect", {"amount": known}).columns
    assert column.type == Decimal(38, 2)
