"""Proto sources of a registry become the descriptors that are read, or stay as they are."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest
from sluice.columns.columns import parse_columns
from sluice.errors import RegistryUnavailable, SettingsError
from sluice.registry.proto_sources import as_descriptors
from sluice.schemas.protobuf.columns import protobuf_declared
from sluice.schemas.registered import Reference, RegisteredSchema

from tests.worlds.protobuf_schemas import COLUMNS, ORDER, of_registry

HEAD = 'syntax = "proto3"; package p; '
MAIN = HEAD + 'import "a/base.proto"; message M { p.B b = 1; }'
BASE = 'syntax = "proto3"; package p; message B { int32 i = 1; }'


def test_a_source_is_read_as_the_descriptors_that_protoc_makes() -> None:
    found = as_descriptors(RegisteredSchema("7", "PROTOBUF", ORDER))
    assert (found.key, found.kind) == ("7", "PROTOBUF")
    assert protobuf_declared(found, "shop.Order").columns == parse_columns(COLUMNS)


def test_references_are_its_imports() -> None:
    schema = RegisteredSchema("7", "PROTOBUF", MAIN, (Reference("a/base.proto", BASE),))
    found = as_descriptors(schema)
    assert [each.name for each in found.references] == ["a/base.proto"]
    assert protobuf_declared(found, None).columns == parse_columns("b STRUCT<i: INT>")
    assert as_descriptors(found) == found


VARIANT = "metadata: BINARY, value: BINARY"
IMPORTS = HEAD + 'import "{}"; import "confluent/meta.proto"; message M { {} x = 1; }'


@pytest.mark.parametrize(
    ("name", "message", "columns"),
    [
        ("confluent/type/variant.proto", "confluent.type.Variant", VARIANT),
        ("google/type/latlng.proto", "google.type.LatLng", "latitude: DOUBLE, longitude: DOUBLE"),
        ("google/type/decimal.proto", "google.type.Decimal", "value: STRING"),
    ],
)
def test_a_file_that_every_registry_knows_needs_no_reference(
    name: str, message: str, columns: str
) -> None:
    text = IMPORTS.replace("{}", name, 1).replace("{}", message, 1)
    found = as_descriptors(RegisteredSchema("7", "PROTOBUF", text))
    assert protobuf_declared(found, None).columns == parse_columns(f"x STRUCT<{columns}>")
    # As Confluent's client for Python registers it: the descriptor of this file alone.
    alone = RegisteredSchema("8", "PROTOBUF", found.text)
    assert protobuf_declared(alone, None).columns == parse_columns(f"x STRUCT<{columns}>")


def test_a_reference_comes_before_a_known_file() -> None:
    name = "google/type/latlng.proto"
    text = HEAD + f'import "{name}"; message M {{ google.type.LatLng x = 1; }}'
    other = 'syntax = "proto3"; package google.type; message LatLng { int32 i = 1; }'
    schema = RegisteredSchema("7", "PROTOBUF", text, (Reference(name, other),))
    found = protobuf_declared(as_descriptors(schema), None).columns
    assert found == parse_columns("x STRUCT<i: INT>")


def test_descriptors_and_other_kinds_are_left_as_they_are() -> None:
    for each in (of_registry("7", ORDER), RegisteredSchema("7", "JSON", '{"title": "a;b"}')):
        assert as_descriptors(each) == each


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        (MAIN, "b.proto", "a/base.proto: File not found"),
        (HEAD + "message M { int32 i = 1; int32 i = 2; }", "b.proto", '"i" is already defined'),
        ("garbage;", "b.proto", "7.proto:1:1: "),
        (MAIN, "../base.proto", "expected the path of an import"),
        (MAIN, "/etc/base.proto", "expected the path of an import"),
        (MAIN, "a\0b", "expected the path of an import"),
        (MAIN, "a" * 300, "File name too long"),
    ],
)
def test_what_protoc_refuses_stays_with_a_warning(
    text: str, name: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    schema = RegisteredSchema("7", "PROTOBUF", text, (Reference(name, BASE),))
    with caplog.at_level(logging.WARNING):
        assert as_descriptors(schema) == schema
    assert "schema 7: protoc cannot read it: " in "\n".join(caplog.messages)
    assert told in "\n".join(caplog.messages)
    with pytest.raises(ValueError, match="7: expected a descriptor in base64"):
        protobuf_declared(schema, None)


def test_without_protoc_the_extra_that_brings_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "grpc_tools", None)
    with pytest.raises(SettingsError, match=r"expected the package grpcio-tools.* `registry`"):
        as_descriptors(RegisteredSchema("7", "PROTOBUF", ORDER))


def test_a_protoc_that_is_killed_has_refused_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for want of memory. A schema that is kept without its descriptors would stay so."""
    killing = "import os, sys\nif 'grpc_tools.protoc' in sys.orig_argv: os.kill(os.getpid(), 9)\n"
    (tmp_path / "sitecustomize.py").write_text(killing)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RegistryUnavailable, match=r"schema 7: .* found that signal 9 ended it\."):
        as_descriptors(RegisteredSchema("7", "PROTOBUF", ORDER))
