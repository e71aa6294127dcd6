"""A real schema registry, whose schemas Confluent's own serialisers register."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import timestamp_pb2, type_pb2
from sluice.errors import RegistryUnavailable, SchemaChanged, SettingsError, UnknownSchema
from sluice.registry.kept_schemas import KeptSchemas
from sluice.schemas.registered import Reference

from tests.production.worlds.authority import Authority
from tests.production.worlds.registry_front import PASSWORD, USER, front
from tests.worlds.schema_registry import CONNECTION, SchemaRegistry, asked
from tests.worlds.scripted_http import ScriptedServer, document, dripping, silence

PASSENGER = {
    "type": "record",
    "name": "Passenger",
    "namespace": "air",
    "fields": [{"name": "name", "type": "string"}],
}
BOOKING = {
    "type": "record",
    "name": "Booking",
    "namespace": "air",
    "fields": [{"name": "passenger", "type": "air.Passenger"}],
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    """One of its own for each test."""
    return f"{request.node.name}-value"


def written(topic: str, serialiser: Any, value: object) -> str:
    """The number of the schema that a record was written with, as its first bytes have it."""
    record = serialiser(value, SerializationContext(topic, MessageField.VALUE))
    assert record[0] == 0
    return str(int.from_bytes(record[1:5], "big"))


def registered(client: SchemaRegistryClient, subject: str, schema: object, **more: Any) -> str:
    made = Schema(json.dumps(schema), "AVRO", **more)
    return str(client.register_schema(subject, made))


def refusal(kind: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(kind) as refused:
        call()
    assert PASSWORD not in "".join(traceback.format_exception(refused.value))
    return str(refused.value)


def test_what_an_avro_serialiser_has_registered(registry: SchemaRegistry) -> None:
    serialiser = AvroSerializer(registry.client(), json.dumps(PASSENGER))
    key = written("avro", serialiser, {"name": "Ada"})
    found = asked(extra={"url": registry.url}).schema(key)
    assert (found.key, found.kind, found.references) == (key, "AVRO", ())
    assert json.loads(found.text) == PASSENGER
    assert asked(extra={"url": registry.url}).latest("avro-value") == found


def test_what_a_json_serialiser_has_registered(registry: SchemaRegistry) -> None:
    schema = {"title": "Passenger", "type": "object", "properties": {"name": {"type": "string"}}}
    serialiser = JSONSerializer(json.dumps(schema), registry.client())
    key = written("json", serialiser, {"name": "Ada"})
    found = asked(extra={"url": registry.url}).schema(key)
    assert (found.kind, json.loads(found.text)) == ("JSON", schema)
    assert asked(extra={"url": registry.url}).latest("json-value") == found


def test_what_a_protobuf_serialiser_has_registered_with_all_its_imports(
    registry: SchemaRegistry,
) -> None:
    conf = {"use.deprecated.format": False, "skip.known.types": False}
    serialiser = ProtobufSerializer(type_pb2.Type, registry.client(), conf)
    key = written("protobuf", serialiser, type_pb2.Type(name="Ada"))
    found = asked(extra={"url": registry.url}).schema(key)
    assert found.kind == "PROTOBUF"
    names = [each.name for each in found.references]
    # Each comes after what it imports itself.
    assert set(names) == {
        "google/protobuf/any.proto",
        "google/protobuf/source_context.proto",
    }
    assert all(each.text for each in found.references)
    assert asked(extra={"url": registry.url}).latest("protobuf-value") == found


def test_a_protobuf_schema_without_imports(registry: SchemaRegistry) -> None:
    conf = {"use.deprecated.format": False}
    serialiser = ProtobufSerializer(timestamp_pb2.Timestamp, registry.client(), conf)
    key = written("timestamps", serialiser, timestamp_pb2.Timestamp(seconds=1))
    assert asked(extra={"url": registry.url}).schema(key).references == ()


def test_references_are_resolved_to_texts(registry: SchemaRegistry, subject: str) -> None:
    client = registry.client()
    registered(client, f"{subject}-passenger", PASSENGER)
    reference = SchemaReference("air.Passenger", f"{subject}-passenger", 1)
    key = registered(client, subject, BOOKING, references=[reference])
    found = asked(extra={"url": registry.url}).schema(key)
    assert json.loads(found.text) == BOOKING
    (only,) = found.references
    assert (only.name, json.loads(only.text)) == ("air.Passenger", PASSENGER)
    assert isinstance(only, Reference)


def test_the_latest_of_several_versions(registry: SchemaRegistry, subject: str) -> None:
    client, wider = registry.client(), json.loads(json.dumps(PASSENGER))
    wider["fields"].append({"name": "seat", "type": ["null", "string"], "default": None})
    first = registered(client, subject, PASSENGER)
    second = registered(client, subject, wider)
    mine = asked(extra={"url": registry.url})
    assert json.loads(mine.latest(subject).text) == wider
    assert (mine.latest(subject).key, mine.schema(first).key) == (second, first)


def test_what_does_not_exist(registry: SchemaRegistry) -> None:
    mine = asked(extra={"url": registry.url})
    said = refusal(UnknownSchema, lambda: mine.schema("2147483647"))
    assert "HTTP 404, 40403" in said
    assert "HTTP 404, 40401" in refusal(UnknownSchema, lambda: mine.latest("nowhere-value"))


def test_this_registry_knows_no_guids_and_is_a_registry_all_the_same(
    registry: SchemaRegistry,
) -> None:
    guid = "89791762-2336-4186-9674-299b90a802e2"
    said = refusal(UnknownSchema, lambda: asked(extra={"url": registry.url}).schema(guid))
    assert f"schema {guid}" in said


def test_a_guid_as_confluents_own_serialiser_writes_it_into_a_header() -> None:
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    conf = {"schema.id.serializer": header_schema_id_serializer}
    serialiser = AvroSerializer(client, json.dumps(PASSENGER), conf=conf)
    headers: list[tuple[str, bytes]] = []
    serialiser({"name": "Ada"}, SerializationContext("guids", MessageField.VALUE, headers))
    ((name, content),) = headers
    assert (name, content[0], len(content)) == ("__value_schema_id", 1, 17)
    key = str(UUID(bytes=content[1:]))
    with ScriptedServer() as server:
        server.answers[f"/schemas/guids/{key}"] = document({"schema": json.dumps(PASSENGER)})
        assert json.loads(asked(extra={"url": server.url}).schema(key).text) == PASSENGER


def test_an_address_of_the_registrys_server_that_is_not_its_interface(
    registry: SchemaRegistry,
) -> None:
    for url in (registry.url.removesuffix("/v7"), registry.url.partition("/apis")[0]):
        mine = asked(extra={"url": url})
        for call in (lambda mine=mine: mine.schema("1"), lambda mine=mine: mine.latest("a")):
            assert "expected a schema registry" in refusal(SettingsError, call)


def test_a_deleted_subject_is_read_from_what_was_kept(
    registry: SchemaRegistry, subject: str, tmp_path: Path
) -> None:
    client, mine = registry.client(), asked(extra={"url": registry.url})
    own = {**PASSENGER, "name": "Deleted"}
    key = registered(client, subject, own)
    kept = KeptSchemas(str(tmp_path / "bookings__offsets"), "orders")
    before = mine.latest(subject)
    assert kept.advance(CONNECTION, subject, before) == before

    client.delete_subject(subject)
    assert mine.schema(key) == before
    refusal(UnknownSchema, lambda: mine.latest(subject))

    client.delete_subject(subject, permanent=True)
    refusal(UnknownSchema, lambda: mine.schema(key))
    assert kept.get(CONNECTION, key) == kept.reader(CONNECTION, subject) == before


def test_a_rebuilt_registry_is_noticed(tmp_path: Path) -> None:
    kept = KeptSchemas(str(tmp_path / "bookings__offsets"), "orders")
    with SchemaRegistry(tmp_path / "registry") as registry:
        mine = asked(extra={"url": registry.url})
        key = registered(registry.client(), "a-value", PASSENGER)
        kept.keep(CONNECTION, mine.schema(key))
        registry.kill()
        refusal(RegistryUnavailable, lambda: mine.schema(key))
        registry.start()
        assert registered(registry.client(), "b-value", BOOKING | {"fields": []}) == key
        said = refusal(SchemaChanged, lambda: kept.keep(CONNECTION, mine.schema(key)))
    assert f"connection {CONNECTION}: schema {key}: expected the AVRO schema" in said
    assert json.loads((kept.get(CONNECTION, key) or pytest.fail("gone")).text) == PASSENGER


class Fronted:
    """The registry behind HTTPS and a login, with one schema."""

    def __init__(self, server: ScriptedServer, authority: Authority, key: str) -> None:
        self.server, self.authority, self.key = server, authority, key

    def schema(self, limit: float = 10, **changes: Any) -> str:
        """The name in the schema; the connection is right but for the changes."""
        extra = {"url": f"{self.server.url}/apis/ccompat/v7"}
        right = {"ssl.ca.pem": self.authority.certificate, **changes.pop("extra", {})}
        login = {"login": USER, "password": PASSWORD, **changes}
        found = asked(limit, **login, extra={**extra, **right})
        return str(json.loads(found.schema(self.key).text)["name"])


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def fronted(registry: SchemaRegistry, authority: Authority, tmp_path: Path) -> Iterator[Fronted]:
    key = registered(registry.client(), "fronted-value", PASSENGER)
    upstream = registry.url.partition("/apis")[0]
    with front(upstream, authority, tmp_path) as server:
        yield Fronted(server, authority, key)


def test_with_the_right_login_and_authority(fronted: Fronted, tmp_path: Path) -> None:
    assert fronted.schema() == "Passenger"
    file = tmp_path / "ca.pem"
    file.write_text(fronted.authority.certificate)
    extra = {"ssl.ca.pem": None, "ssl.ca.location": str(file)}
    assert fronted.schema(extra=extra) == "Passenger"


def test_a_wrong_password(fronted: Fronted) -> None:
    wrongs: list[dict[str, Any]] = [{"password": "wrong"}, {"login": None, "password": None}]
    for wrong in wrongs:
        said = refusal(SettingsError, partial(fronted.schema, **wrong))
        assert "expected a login that may read it" in said
        assert "HTTP 401" in said
    assert len(fronted.server.asked) == 2


def test_an_authority_that_did_not_sign(fronted: Fronted) -> None:
    for wrong in ({"ssl.ca.pem": Authority().certificate}, {"ssl.ca.pem": None}):
        said = refusal(SettingsError, partial(fronted.schema, extra=wrong))
        assert "expected a certificate that is trusted" in said
    assert fronted.server.asked == []


def test_a_name_that_is_not_in_the_certificate(fronted: Fronted) -> None:
    fronted.server.host = "localhost"
    said = refusal(SettingsError, fronted.schema)
    assert "Hostname mismatch" in said


def test_a_client_certificate_that_is_asked_for(
    registry: SchemaRegistry, authority: Authority, tmp_path: Path
) -> None:
    key = registered(registry.client(), "fronted-value", PASSENGER)
    with front(registry.url.partition("/apis")[0], authority, tmp_path, clients=True) as server:
        fronted = Fronted(server, authority, key)
        own = authority.client("sluice", PASSWORD)
        certificate = {
            "ssl.certificate.pem": own.certificate,
            "ssl.key.pem": own.key,
            "ssl.key.password": PASSWORD,
        }
        assert fronted.schema(extra=certificate) == "Passenger"
        stranger = Authority().client("sluice", PASSWORD)
        foreign = {
            **certificate,
            "ssl.certificate.pem": stranger.certificate,
            "ssl.key.pem": stranger.key,
        }
        for extra in ({}, foreign):
            # The server hangs up, and its reason arrives or not.
            with pytest.raises((SettingsError, RegistryUnavailable)) as refused:
                fronted.schema(extra=extra)
            assert "certificate" in str(refused.value)


@pytest.mark.parametrize(
    "answer", [silence, dripping(b"HTTP/1.1 200 OK\r\nX: ")], ids=["never", "drips"]
)
def test_over_https_each_call_ends_too(fronted: Fronted, answer: Any) -> None:
    fronted.server.answers[f"/apis/ccompat/v7/schemas/ids/{fronted.key}"] = answer
    began = time.monotonic()
    refusal(RegistryUnavailable, lambda: fronted.schema(limit=2))
    assert time.monotonic() - began < 3
