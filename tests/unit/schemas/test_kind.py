"""The contract of a schema's kind: each answers all of it, and no other code asks which it is."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.schemas.kind import SchemaKind, kind_of
from sluice.schemas.registered import KINDS, Kind, RegisteredSchema
from sluice.spec_file.formats import FORMATS

from tests.unit.sources import module, shown, sources, tree
from tests.worlds.protobuf_schemas import descriptor_set

FORM_CLASSES = {"AvroFormat", "JsonFormat", "ProtobufFormat"}


def content(kind: Kind, *fields: str, record: str = "Order") -> bytes:
    """The file of a schema with whole numbers as its fields."""
    match kind:
        case "AVRO":
            listed = [{"name": each, "type": "long", "default": 0} for each in fields]
            return json.dumps({"type": "record", "name": record, "fields": listed}).encode()
        case "JSON":
            properties = {each: {"type": "integer"} for each in fields}
            return json.dumps({"title": record, "properties": properties}).encode()
        case "PROTOBUF":
            numbered = "".join(f"int64 {each} = {n};" for n, each in enumerate(fields, 1))
            source = f'syntax = "proto3"; message {record} {{ {numbered} }}'
            return descriptor_set({"main.proto": source})


def schema(kind: Kind, *fields: str, record: str = "Order") -> RegisteredSchema:
    return kind_of(kind).of_file("5", content(kind, *fields, record=record))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


def test_a_kind_has_the_contracts_methods_and_no_others(kind: Kind) -> None:
    def methods(of: type) -> dict[str, inspect.Signature]:
        found = inspect.getmembers(of, inspect.isfunction)
        return {name: inspect.signature(each) for name, each in found if name[0] != "_"}

    assert methods(type(kind_of(kind))) == methods(SchemaKind)


def test_a_schema_of_a_file_gives_its_fields_as_columns(kind: Kind) -> None:
    found = schema(kind, "id", "n")
    assert (found.key, found.kind) == ("5", kind)
    assert kind_of(kind).declared(found, "Order").columns == parse_columns("id BIGINT, n BIGINT")
    assert not kind_of(kind).is_source(found)
    assert kind_of(kind).has_fields(found)


def test_a_name_of_sluices_own_is_no_column(kind: Kind) -> None:
    keys = {"type": kind.lower(), "schema_file": "order"}
    of_message = {"record": "Order"} if kind_of(kind).many_records else {}
    files = {"order": content(kind, "id", "_batch")}
    form: Any = FORMATS[kind.lower()].model_validate(
        {**keys, **of_message}, context={"files": files}
    )
    assert form.columns == parse_columns("id BIGINT")
    (unread,) = form.declared.unread
    assert str(unread) == "$._batch: Sluice has its own column of this name"


def test_a_schema_is_the_same_however_its_text_is_written(kind: Kind) -> None:
    asked, one, other = kind_of(kind), schema(kind, "id"), schema(kind, "n")
    assert asked.same(one, one)
    assert not asked.same(one, other)
    spaced = RegisteredSchema("5", kind, one.text.replace(":", " : "))
    assert asked.same(one, spaced)


def test_a_schema_of_the_same_record_loses_and_narrows_nothing(kind: Kind) -> None:
    asked, old, new = kind_of(kind), schema(kind, "id"), schema(kind, "id", "n")
    assert asked.other_record(new, old, "Order") == ""
    assert asked.loss(old, new, "Order") == ""
    assert asked.narrowing(old, new) == ""


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("AVRO", "it is another record, Refund"),
        ("JSON", "expected record Order, found record Refund"),
        ("PROTOBUF", ""),
    ],
)
def test_another_record_is_named(kind: Kind, why: str) -> None:
    """A message of another name is a loss: `record` names the one that both must have."""
    asked, old, new = kind_of(kind), schema(kind, "id"), schema(kind, "id", record="Refund")
    assert asked.other_record(new, old, "Order") == why
    assert asked.other_record(new, None, None) == ""


def test_only_a_message_is_found_by_number_and_one_of_many() -> None:
    assert [each for each in KINDS if not kind_of(each).by_name] == ["PROTOBUF"]
    assert [each for each in KINDS if kind_of(each).many_records] == ["PROTOBUF"]


def test_a_spec_loads_no_library_of_schemas_before_one_is_read() -> None:
    program = (
        "import sys; from sluice.spec_file.formats import JsonFormat, ProtobufFormat;"
        "print(JsonFormat(type='json', schema='x INT').names_fields);"
        "ProtobufFormat(type='protobuf', registry='r', record='p.M');"
        "assert not {'google.protobuf', 'referencing'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.stdout, done.stderr) == (b"True\n", b"")


def dispatches(node: ast.AST) -> bool:
    """Whether it asks which kind something is, or which format of the three."""
    match node:
        case ast.Compare(left, _, others):
            parts = [left, *others]
        case ast.MatchValue(value) | ast.MatchClass(value):
            parts = [value]
        case ast.Call(ast.Name("isinstance"), [_, of]):
            parts = [of]
        case _:
            return False
    return any(names_a_kind(each) for part in parts for each in ast.walk(part))


def names_a_kind(node: ast.AST) -> bool:
    match node:
        case ast.Constant(str(text)):
            return text in {*KINDS, "avro", "protobuf"}
        case ast.Name(name):
            return name in FORM_CLASSES
    return False


def places_that_dispatch() -> Iterator[str]:
    for path in sources("jobs/sluice"):
        if not module(path).startswith(("sluice.schemas.", "sluice.lake.decoding.")):
            found = (each for each in ast.walk(tree(path)) if dispatches(each))
            yield from (f"{shown(path)}:{getattr(each, 'lineno', '')}" for each in found)


def test_no_other_code_asks_which_kind_a_schema_is() -> None:
    assert [*places_that_dispatch()] == []
    (asking,) = (each for each in sources("jobs/sluice") if module(each) == "sluice.schemas.kind")
    assert sum(map(dispatches, ast.walk(tree(asking)))) == len(KINDS), "the test sees them"


def test_registries_know_schemas_by_the_contract_alone() -> None:
    known = {f"sluice.schemas.{each}" for each in ("kind", "registered", "spec_files")}
    # Only of Protobuf a registry gives sources, whose imports have to be there.
    known.add("sluice.schemas.protobuf.known_files")
    found = {
        f"{shown(path)} imports {node.module}"
        for path in sources("jobs/sluice/registry", "jobs/sluice/progress", "jobs/sluice/spec_file")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom)
        and str(node.module).startswith("sluice.schemas.")
        and node.module not in known
    }
    assert found == set()
