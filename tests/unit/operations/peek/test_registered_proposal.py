"""What is proposed for records of a registry is a spec that `plan` accepts with that registry."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sluice.columns.change_events import OURS
from sluice.spec_file.plain_formats import RawFormat

from tests.worlds.protobuf_schemas import of_registry
from tests.worlds.registered_topic import (
    RegisteredTopic,
    avro,
    framed,
    record,
)
from tests.worlds.scripted_http import ScriptedServer

ORDER = record("Order", id="long", city="string")
CLICK = record("Click", id="string")
DATE = {"type": "int", "connect.name": "io.debezium.time.Date"}
MOMENT = {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}
PROTO = (
    'syntax = "proto3"; package shop; message Head { int32 i = 1; } message Order { int64 id = 1; }'
)


@pytest.fixture
def topic(tmp_path: Path) -> Iterator[RegisteredTopic]:
    with ScriptedServer() as server:
        yield RegisteredTopic(server, tmp_path)


def columns(topic: RegisteredTopic, text: str) -> list[str]:
    spec = topic.planned(text)
    return [each.name for each in (*spec.columns, *spec.formats.key_columns)]


def test_avro_of_the_topics_subject(topic: RegisteredTopic) -> None:
    topic.register(7, ORDER, "orders-value")
    topic.register(8, '"long"', "orders-key", "other-key")
    for each in range(3):
        topic.send(avro(7, ORDER, {"id": each, "city": "a"}), framed(8, b"\x02"))
    topic.send(None, framed(8, b"\x02"))
    text = topic.proposal()
    assert columns(topic, text) == ["id", "city", "_key_value"]
    assert "\nformat: {type: avro, registry: registry_a}\n" in text
    assert "\nkey_format: {type: avro, registry: registry_a}\n" in text
    assert "# Proposed from 4 records and the newest schemas of registry_a.\n" in text
    assert "# Schema 7 is named by 3 of 3 values: AVRO shop.Order, subject orders-value.\n" in text
    assert "# Schema 8 is named by 4 of 4 keys: AVRO, subject orders-key, other-key.\n" in text
    assert "quarantined" not in text


def test_schemas_that_headers_name(topic: RegisteredTopic) -> None:
    topic.register(7, ORDER, "orders-value")
    body = avro(7, ORDER, {"id": 1, "city": "a"})[5:]
    topic.send(body, headers=[("__value_schema_id", framed(7, b""))])
    assert columns(topic, topic.proposal()) == ["id", "city"]


def test_unknown_numbers_and_other_bytes_are_told_with_their_place(topic: RegisteredTopic) -> None:
    topic.register(7, ORDER, "orders-value")
    for _ in range(3):
        topic.send(avro(7, ORDER, {"id": 1, "city": "a"}))
    topic.send(framed(99, b"\x02"))
    topic.send(b"{}")
    topic.send(framed(7, b"\x02"))
    text = topic.proposal()
    assert columns(topic, text) == ["id", "city"]
    for told in (
        "# 1 of 6 values would be quarantined: orders[0]@3: connection registry_a: ",
        "schema 99: expected one that is registered",
        "# 1 of 6 values would be quarantined: orders[0]@4: no schema id: expected the byte 0 and",
        "# 1 of 6 values would be quarantined: orders[0]@5: expected 1 byte at byte 1, found 0",
    ):
        assert told in text


def test_where_no_number_is_known_each_is_told(topic: RegisteredTopic) -> None:
    for number in (98, 99, 99):
        topic.send(framed(number, b"\x02"))
    text = topic.proposal()
    assert isinstance(topic.planned(text).format, RawFormat)
    assert "# The schema of 1 of 3 values is unknown: orders[0]@0: connection registry_a: " in text
    assert "# The schema of 2 of 3 values is unknown: orders[0]@1: connection registry_a: " in text
    assert "schema 99: expected one that is registered" in text


def test_fields_without_a_column_are_told_and_rescued(topic: RegisteredTopic) -> None:
    twins = record("Order", id="long", ID="long")
    topic.register(7, twins, "orders-value")
    topic.send(avro(7, twins, {"id": 1, "ID": 2}))
    text = topic.proposal()
    assert "# format: no column holds $.ID: declared twice" in text
    assert "\nrescue: true\n" in text
    assert columns(topic, text) == ["id"]


def test_numbers_that_are_moments_are_told(topic: RegisteredTopic) -> None:
    topic.register(7, record("Order", at="long"), "orders-value")
    topic.send(avro(7, record("Order", at="long"), {"at": 1_700_000_000_123}))
    assert "# at looks like milliseconds since 1970: derived: " in topic.proposal()


def test_change_events_are_proposed_as_such(topic: RegisteredTopic) -> None:
    row = record("Value", id="long", born=["null", DATE])
    event = record(
        "Envelope",
        before=["null", row],
        after=["null", "Value"],
        source=record("Source", db="string"),
        op="string",
        ts_ms=["null", "long"],
    )
    topic.register(7, event, "orders-value")
    after = {"id": 1, "born": 9}
    found = {"before": None, "after": after, "source": {"db": "d"}, "op": "c", "ts_ms": 1}
    topic.send(avro(7, event, found))
    text = topic.proposal()
    assert "\nformat: {type: avro, registry: registry_a, envelope: debezium}\n" in text
    assert columns(topic, text) == ["id", "born", *OURS]
    assert str(topic.planned(text).columns[1].type) == "DATE"


EVENT_PROTO = """
syntax = "proto3"; package shop;
message Envelope {
  Value before = 1; Value after = 2; Source source = 3; string op = 4; int64 ts_ms = 5;
}
message Value { int64 id = 1; }
message Source { string db = 1; }
"""


def test_change_events_in_json_and_protobuf(topic: RegisteredTopic) -> None:
    row = {"type": "object", "properties": {"id": {"type": "integer"}}}
    parts = {"before": row, "after": row, "source": {"type": "object"}, "op": {"type": "string"}}
    schema = {"type": "object", "properties": {**parts, "ts_ms": {"type": "integer"}}}
    topic.register(7, schema, "orders-value", kind="JSON")
    topic.send(framed(7, b'{"before":null,"after":{"id":1},"source":{},"op":"c","ts_ms":1}'))
    text = topic.proposal()
    assert "\nformat: {type: json, registry: registry_a, envelope: debezium}\n" in text
    assert columns(topic, text) == ["id", *OURS]
    topic.register(8, of_registry("8", EVENT_PROTO).text, "orders-value", kind="PROTOBUF")
    topic.samples.clear()
    topic.send(framed(8, b"\0\x12\x02\x08\x01\x1a\x03\x0a\x01d\x22\x01c\x28\x01"))
    text = topic.proposal()
    assert "\nformat: {type: protobuf, registry: registry_a, envelope: debezium}\n" in text
    assert columns(topic, text) == ["id", *OURS]


def typed(topic: RegisteredTopic, text: str) -> dict[str, str]:
    spec = topic.planned(text)
    found = (*spec.columns, *spec.formats.key_columns)
    return {each.name: str(each.type) for each in found}


def test_types_that_connect_names_are_read_as_what_they_mean(topic: RegisteredTopic) -> None:
    person = record("Person", id="long", born=["null", DATE], at=MOMENT)
    topic.register(7, person, "orders-value")
    topic.register(8, record("Key", day=DATE), "orders-key")
    row = {"id": 1, "born": 19_000, "at": 1_700_000_000_123_456}
    topic.send(avro(7, person, row), avro(8, record("Key", day=DATE), {"day": 19_000}))
    text = topic.proposal()
    keys = "type: avro, registry: registry_a, envelope: connect"
    assert f"\nformat: {{{keys}}}\nkey_format: {{{keys}}}\n" in text
    columns = {"id": "BIGINT", "born": "DATE", "at": "TIMESTAMP", "_key_day": "DATE"}
    assert typed(topic, text) == columns
    assert (
        "# The values' schema names types of Connect's or Debezium's: io.debezium.time.Date,"
        " io.debezium.time.MicroTimestamp. envelope: connect makes the columns what these mean."
        " Without it the first run would make them the plain numbers, texts or bytes for good:"
        " docs/formats.md#rows-that-connect-wrote\n"
    ) in text
    assert "# The keys' schema names types of Connect's or Debezium's: io.debezium.time.D" in text
    assert "looks like microseconds" not in text


def test_where_only_the_keys_types_are_named_only_these_are_read_so(topic: RegisteredTopic) -> None:
    topic.register(7, ORDER, "orders-value")
    topic.register(8, json.dumps(DATE), "orders-key")
    topic.send(avro(7, ORDER, {"id": 1, "city": "a"}), framed(8, b"\x02"))
    text = topic.proposal()
    assert "\nformat: {type: avro, registry: registry_a}\n" in text
    assert "\nkey_format: {type: avro, registry: registry_a, envelope: connect}\n" in text
    assert typed(topic, text) == {"id": "BIGINT", "city": "STRING", "_key_value": "DATE"}


def test_titles_of_connects_types_in_a_json_schema(topic: RegisteredTopic) -> None:
    born = {"oneOf": [{"type": "null"}, {"type": "integer", "title": "io.debezium.time.Date"}]}
    schema = {"type": "object", "properties": {"id": {"type": "integer"}, "born": born}}
    topic.register(7, schema, "orders-value", kind="JSON")
    topic.send(framed(7, b'{"id": 1, "born": 19000}'))
    text = topic.proposal()
    assert "\nformat: {type: json, registry: registry_a, envelope: connect}\n" in text
    assert typed(topic, text) == {"id": "BIGINT", "born": "DATE"}
    topic.samples.clear()
    topic.register(8, schema, "elsewhere", kind="JSON")
    topic.server.answers.pop("/subjects/orders-value/versions/latest")
    topic.send(framed(8, b'{"id": 1, "born": 19000}'))
    text = topic.proposal()
    assert typed(topic, text) == {"id": "BIGINT", "born": "BIGINT"}
    assert (
        "# Schema 8 names types of Connect's or Debezium's, io.debezium.time.Date, and the columns"
        " here are those of the numbers and texts: docs/formats.md#rows-that-connect-wrote\n"
    ) in text


def test_another_kind_of_records_is_told_with_its_envelope(topic: RegisteredTopic) -> None:
    person = record("Person", born=DATE)
    topic.register(7, ORDER, "shop.Order")
    topic.register(8, person, "shop.Person")
    for each in range(2):
        topic.send(avro(7, ORDER, {"id": each, "city": "a"}))
    topic.send(avro(8, person, {"born": 19_000}))
    text = topic.proposal()
    assert "record: shop.Order}\nonly: {record: shop.Order}\n" in text
    assert "record: shop.Person, envelope: connect}, only: {record: shop.Person}\n" in text


def test_older_schemas_are_compared_as_they_are_read(topic: RegisteredTopic) -> None:
    older = record("Person", at=MOMENT)
    newer = record("Person", at={"type": "long", "connect.name": "io.debezium.time.Timestamp"})
    topic.register(6, older)
    topic.register(7, newer, "orders-value")
    topic.send(avro(6, older, {"at": 1}))
    topic.send(avro(7, newer, {"at": 1}))
    assert "# Not all records of schema 6 can be read as schema 7: at: " in topic.proposal()


@pytest.mark.parametrize("strategy", ["record", "topic_record"])
def test_of_several_kinds_one_is_landed_and_the_others_are_named(
    topic: RegisteredTopic, strategy: str
) -> None:
    prefix = "" if strategy == "record" else "orders-"
    topic.register(7, ORDER, f"{prefix}shop.Order")
    topic.register(8, CLICK, f"{prefix}shop.Click")
    topic.send(avro(8, CLICK, {"id": "a"}))
    for each in range(2):
        topic.send(avro(7, ORDER, {"id": each, "city": "a"}))
    text = topic.proposal()
    keys = f"type: avro, registry: registry_a, subject_strategy: {strategy}, record: shop"
    assert f"\nformat: {{{keys}.Order}}\nonly: {{record: shop.Order}}\n" in text
    assert (
        f"# Another pipeline lands shop.Click: format: {{{keys}.Click}},"
        " only: {record: shop.Click}\n"
    ) in text
    assert columns(topic, text) == ["id", "city"]


def test_a_message_that_is_not_the_first_of_its_file(topic: RegisteredTopic) -> None:
    topic.register(7, of_registry("7", PROTO).text, "orders-value", kind="PROTOBUF")
    topic.send(framed(7, b"\2\2\x08\x05"))
    text = topic.proposal()
    assert "\nformat: {type: protobuf, registry: registry_a, record: shop.Order}\n" in text
    assert columns(topic, text) == ["id"]


def titled(title: str, **types: str) -> dict[str, object]:
    properties = {name: {"type": each} for name, each in types.items()}
    return {"title": title, "type": "object", "properties": properties}


def test_kinds_of_json_are_told_apart_by_their_numbers(topic: RegisteredTopic) -> None:
    topic.register(6, titled("Order", id="integer"), kind="JSON")
    topic.register(7, titled("Order", id="integer", n="integer"), "Order", kind="JSON")
    topic.register(8, titled("Click", id="string"), "Click", kind="JSON")
    for number, body in ((6, b'{"id": 1}'), (7, b'{"id": 2, "n": 1}'), (8, b'{"id": "a"}')):
        topic.send(framed(number, body))
    text = topic.proposal()
    assert "subject_strategy: record, record: Order}\nonly: {schema_ids: [6, 7]}\n" in text
    assert columns(topic, text) == ["id", "n"]


def test_json_whose_subject_is_unknown_gets_the_columns_of_the_records(
    topic: RegisteredTopic,
) -> None:
    topic.register(7, titled("Order", id="integer"), "elsewhere", kind="JSON")
    topic.send(framed(7, b'{"id": 1}'))
    text = topic.proposal()
    assert "\nformat:\n  type: json\n  registry: registry_a\n  schema: |-\n    id BIGINT\n" in text
    assert columns(topic, text) == ["id"]


def test_without_a_subject_values_and_keys_stay_bytes_and_the_way_is_told(
    topic: RegisteredTopic,
) -> None:
    topic.register(7, ORDER, "elsewhere")
    topic.register(8, '"long"', "elsewhere-key")
    topic.send(avro(7, ORDER, {"id": 1, "city": "a"}), framed(8, b"\x02"))
    text = topic.proposal()
    assert isinstance(topic.planned(text).format, RawFormat)
    assert "key_format" not in text
    assert (
        "# No subject leads to the schema of the values shop.Order: expected one of orders-value,"
        " shop.Order, orders-shop.Order, found none"
    ) in text
    assert "# No subject leads to the schema of the keys: expected one of orders-key, found" in text


def test_keys_that_only_look_framed_stay_bytes(topic: RegisteredTopic) -> None:
    topic.register(7, ORDER, "orders-value")
    for number in (3, 7 << 24, (7 << 24) + 1):
        topic.send(avro(7, ORDER, {"id": 1, "city": "a"}), number.to_bytes(8, "big"))
    text = topic.proposal()
    assert "key" not in text
    assert columns(topic, text) == ["id", "city"]


def test_registered_keys_of_plain_values(topic: RegisteredTopic) -> None:
    topic.register(8, '"long"', "orders-key")
    topic.send(b'{"id": 1}', framed(8, b"\x02"))
    text = topic.proposal()
    assert columns(topic, text) == ["id", "_key_value"]
    assert "# Proposed from 1 record: look at the types before you use it.\n" in text


def test_a_schema_that_the_newest_does_not_read_is_told(topic: RegisteredTopic) -> None:
    older = record("Order", id="string")
    topic.register(6, older)
    topic.register(7, ORDER, "orders-value")
    topic.send(avro(6, older, {"id": "a"}))
    topic.send(avro(7, ORDER, {"id": 1, "city": "a"}))
    text = topic.proposal()
    assert "# Not all records of schema 6 can be read as schema 7: " in text
    assert columns(topic, text) == ["id", "city"]


def test_what_cannot_fit_is_told_and_the_rest_is_proposed(topic: RegisteredTopic) -> None:
    broken = record("Order", id={"type": "map", "values": "nothing"})
    topic.register(7, ORDER, "orders-value")
    topic.register(8, broken, "orders-key")
    topic.register(9, '"long"')
    topic.send(avro(7, ORDER, {"id": 1, "city": "a"}), framed(9, b"\x02"))
    text = topic.proposal()
    assert columns(topic, text) == ["id", "city"]
    assert "\nkey_format" not in text
    assert "registry_a} does not fit: id: values: expected a type that is defined before" in text


def test_compressed_values(topic: RegisteredTopic) -> None:
    topic.register(7, ORDER, "orders-value")
    topic.send(gzip.compress(avro(7, ORDER, {"id": 1, "city": "a" * 50})))
    text = topic.proposal()
    assert "\nformat: {type: avro, registry: registry_a, compression: gzip}\n" in text
    assert columns(topic, text) == ["id", "city"]


def test_a_union_of_records_is_read_as_its_members(topic: RegisteredTopic) -> None:
    union = [ORDER, CLICK]
    topic.register(7, json.dumps(union), "orders-value")
    topic.send(avro(7, union, ("shop.Click", {"id": "a"})))
    assert columns(topic, topic.proposal()) == ["value"]
