"""Records, enums and fixed are read as those of their names, and no others that could be read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoding.avro_decoding import (
    AvroTable,
    AvroTogether,
    Judged,
    encoded,
    framed,
    record,
    schema,
)
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark
TOGETHER = AvroTogether()

CREATED = record({"id": "long", "amount": ["null", "double"]}, "shop.OrderCreated", amount=None)
CANCELLED = record({"id": "long", "why": ["null", "string"]}, "shop.OrderCancelled", why=None)


def other_names(reader: dict[str, Any]) -> Judged:
    """Avro itself looks only at the fields."""
    moved = {**CREATED, "name": "old.shop.OrderCreated"}
    body = encoded(CREATED, {"id": 1, "amount": 2.0})
    other = encoded(CANCELLED, {"id": 1, "why": None})
    writers = {"1": schema(CREATED), "2": schema(CANCELLED, "2"), "3": schema(moved, "3")}
    values = [framed(1, body), framed(2, other), framed(3, body)]
    row = {"id": 1, "amount": 2.0}
    found = yield AvroTable(schema(reader, "9"), values, writers)
    assert found[:2] == [
        row,
        Undecodable(
            "schema id 2 cannot be read as schema id 9: expected record"
            f" {reader['name']}, found record shop.OrderCancelled"
        ),
    ]
    assert (found[2] == row) is (reader is CREATED)


@TOGETHER.clause
def test_a_record_of_another_name_is_refused() -> Judged:
    yield from other_names(CREATED)


@TOGETHER.clause
def test_a_record_of_another_name_than_the_aliases_is_refused() -> Judged:
    yield from other_names({**CREATED, "name": "shop.Order", "aliases": ["OrderCreated"]})


@TOGETHER.clause
def test_a_record_of_another_name_in_a_topic_with_several_is_refused() -> Judged:
    both = schema([CREATED, CANCELLED])
    bodies = [
        framed(1, b"\0" + encoded(CREATED, {"id": 1, "amount": None})),
        framed(1, b"\x02" + encoded(CANCELLED, {"id": 1, "why": None})),
    ]
    found = yield AvroTable(schema(CREATED, "9"), bodies, {"1": both})
    assert found == [
        {"id": 1, "amount": None},
        Undecodable(
            "schema id 1: expected record shop.OrderCreated, found record shop.OrderCancelled"
        ),
    ]


@TOGETHER.clause
def test_a_member_of_a_union_of_another_name_is_refused() -> Judged:
    reader = record({"events": {"type": "array", "items": ["null", CREATED]}})
    writer = record({"events": {"type": "array", "items": ["null", CREATED, CANCELLED]}})
    values = [{"id": 1, "amount": 2.0}, ("shop.OrderCancelled", {"id": 1, "why": None})]
    body = framed(1, encoded(writer, {"events": values}))
    (wrong,) = yield AvroTable(schema(reader, "9"), [body], {"1": schema(writer)})
    assert wrong == Undecodable(
        "schema id 1: events[1]: expected [null, shop.OrderCreated],"
        " found record shop.OrderCancelled"
    )


@TOGETHER.clause
def test_types_are_read_as_those_of_the_names_that_avro_compares() -> Judged:
    def of(space: str, **more: Any) -> dict[str, Any]:
        enum = {"type": "enum", "name": f"{space}.E", "symbols": ["A"], **more}
        return record({"e": enum, "f": {"type": "fixed", "name": f"{space}.F", "size": 1}})

    (found,) = yield AvroTable(schema(of("b"), "9"), [framed(1, b"\0x")], {"1": schema(of("a"))})
    assert found == {"e": "A", "f": b"x"}


@TOGETHER.clause
def test_of_a_union_the_record_of_the_name_is_meant_and_no_other_that_could_be_read() -> Judged:
    first, second = (record({"x": ["null", "int"]}, name, x=None) for name in ("s.A", "s.B"))
    reader = record({"u": ["null", first, second]})
    body = framed(1, b"\x02\x0a")
    (found,) = yield AvroTable(schema(reader, "9"), [body], {"1": schema(record({"u": second}))})
    assert found == {"u": {"member0": None, "member1": {"x": 5}}}
