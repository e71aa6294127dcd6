"""`sluice peek --registry`: what Confluent's serialisers wrote is shown, and its proposal runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import record_subject_name_strategy
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.production.worlds.avro_topic import record
from tests.worlds.command_line import run_main
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.protobuf_schemas import message_class
from tests.worlds.records import produce
from tests.worlds.schema_registry import CONNECTION, SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ORDER = record(("id", "long"), ("city", "string"))
CLICK = record(("id", "string"), name="Click")
OBJECT = {
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "city": {"type": "string"}},
}
PROTO = (
    'syntax = "proto3"; package shop;'
    " message Head { int32 i = 1; } message Order { int64 id = 1; string city = 2; }"
)
Serialise = Callable[[Any, SerializationContext], bytes]
ROWS = [{"id": each, "city": "Köln"} for each in range(3)]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as running:
        yield running


def avro(registry: SchemaRegistry) -> Serialise:
    return AvroSerializer(registry.client(), json.dumps(ORDER))


def json_schema(registry: SchemaRegistry) -> Serialise:
    return JSONSerializer(json.dumps(OBJECT), registry.client())


def protobuf(registry: SchemaRegistry) -> Serialise:
    made = message_class(PROTO, "shop.Order")
    serialise = ProtobufSerializer(made, registry.client(), {"use.deprecated.format": False})
    return lambda row, context: serialise(made(**row), context)


KINDS = {
    "avro": (avro, "AVRO", "com.example.Order", ROWS),
    "json": (json_schema, "JSON", "Order", ROWS),
    "protobuf": (protobuf, "PROTOBUF", "shop.Order", [{**e, "id": str(e["id"])} for e in ROWS]),
}


@pytest.fixture
def installed(registry: SchemaRegistry, topic: Topic, pipeline: Pipelines) -> Installed:
    """An empty topic, and no spec yet; the pipeline will be named as `peek` names it."""
    made = pipeline(topic(retention_ms=-1))
    made.spec_file.unlink()
    made.name = made.topics[0].replace("-", "_")
    made.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    return made


def peek(made: Installed, *options: str) -> str:
    words = ["sluice", "peek", made.topics[0], *options]
    done = run_main(words, made.environment, made.folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def send(made: Installed, serialise: Serialise, rows: list[dict[str, Any]], **key: Any) -> None:
    context = SerializationContext(made.topics[0], MessageField.VALUE)
    produce(made.bootstrap, made.topics[0], [serialise(row, context) for row in rows], **key)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_decoded_and_its_proposal_lands_it(
    registry: SchemaRegistry, installed: Installed, kind: str
) -> None:
    serialiser, named, record_name, shown = KINDS[kind]
    key = AvroSerializer(registry.client(), '"long"')
    context = SerializationContext(installed.topics[0], MessageField.KEY)
    send(installed, serialiser(registry), ROWS, key=key(7, context))
    assert f"`sluice peek {installed.topics[0]} --registry {CONNECTION}` decodes" in peek(installed)
    found = json.loads(peek(installed, "--registry", CONNECTION, "--json"))
    assert [each["value_decoded"]["value"] for each in found["records"]] == shown
    assert [each["key_decoded"]["value"] for each in found["records"]] == [7] * 3
    values, keys = found["registry"]["schemas"]
    assert (values["kind"], values["record"], values["samples"]) == (named, record_name, 3)
    assert values["subjects"] == [f"{installed.topics[0]}-value"]
    # The same schema is that of other tests' keys.
    assert f"{installed.topics[0]}-key" in keys["subjects"]
    text = peek(installed, "--registry", CONNECTION)
    assert '"city": "Köln"' in text
    assert record_name in text
    spec = peek(installed, "--registry", CONNECTION, "--spec")
    assert found["spec"] == spec
    assert f"key_format: {{type: avro, registry: {CONNECTION}}}" in spec
    installed.spec_file.write_text(spec, encoding="utf-8")
    checked = run_main(["sluice", "check"], installed.environment, installed.folder)
    assert checked.returncode == 0, checked.stderr
    installed.run()
    landed = [(each["id"], each["city"], each["_key_value"]) for each in installed.rows()]
    assert sorted(landed) == [(0, "Köln", 7), (1, "Köln", 7), (2, "Köln", 7)]
    assert installed.quarantined() == []


def test_of_several_kinds_of_records_a_proposal_lands_one(
    registry: SchemaRegistry, installed: Installed
) -> None:
    config = {"subject.name.strategy": record_subject_name_strategy}
    for schema, rows in ((ORDER, ROWS), (CLICK, [{"id": "a"}])):
        serialise = AvroSerializer(registry.client(), json.dumps(schema), conf=config)
        send(installed, serialise, rows)
    spec = peek(installed, "--registry", CONNECTION, "--spec")
    record_keys = "subject_strategy: record, record: com.example"
    form = f"format: {{type: avro, registry: {CONNECTION}, {record_keys}.Order}}"
    assert f"\n{form}\nonly: {{record: com.example.Order}}\n" in spec
    assert f"com.example.Click: format: {{type: avro, registry: {CONNECTION}, {record_keys}" in spec
    installed.spec_file.write_text(spec, encoding="utf-8")
    installed.run()
    assert sorted(each["id"] for each in installed.rows()) == [0, 1, 2]
    assert installed.offsets("committed")[0]["filtered"] == 1
