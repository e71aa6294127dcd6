"""A JSON schema in several files: what it refers to by a path is found, at any depth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema

LOGIN = {"type": "object", "properties": {"login": {"type": "string"}}}


def of(user: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"user": user}}


def in_files(first: str, files: Mapping[str, Any], *named: str) -> RegisteredSchema:
    contents = {
        name: each if isinstance(each, bytes) else json.dumps(each).encode()
        for name, each in files.items()
    }
    kind = kind_of("JSON")
    return kind.with_files(kind.of_file(first, contents[first]), named, contents)


def columns(found: RegisteredSchema) -> Any:
    return kind_of("JSON").declared(found, None).columns


FOUND = parse_columns("user STRUCT<login: STRING>")


@pytest.mark.parametrize(
    ("ref", "files"),
    [
        ("user.json", {"user.json": LOGIN}),
        ("./user.json#", {"user.json": LOGIN}),
        ("user.json#/definitions/x", {"user.json": {"definitions": {"x": LOGIN}}}),
        ("parts/user.json", {"parts/user.json": LOGIN}),
        ("parts/../user.json", {"user.json": LOGIN}),
        (
            "parts/user.json",
            {"parts/user.json": {"$ref": "../login.json"}, "login.json": LOGIN},
        ),
        (
            "parts/user.json",
            {
                "parts/user.json": {"$ref": "login.json"},
                "parts/login.json": LOGIN,
                "login.json": {"type": "string"},
            },
        ),
        (
            "user.json",
            {"user.json": {"$id": "https://example.com/a/user.json", "allOf": [LOGIN]}},
        ),
        (
            "user.json",
            {
                "user.json": {"$id": "https://example.com/b", "$ref": "login.json#/d"},
                "login.json": {"$id": "https://example.com/c", "d": LOGIN},
            },
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("own", [{}, {"$id": "https://example.com/schemas/event.json"}], ids=str)
def test_a_path_leads_to_a_file_beside_the_one_that_has_it(
    ref: str, files: dict[str, Any], own: dict[str, Any]
) -> None:
    assert (
        columns(in_files("event.json", {"event.json": of({"$ref": ref}) | own, **files})) == FOUND
    )


@pytest.mark.parametrize("first", ["event.json", "schemas/event.json"])
def test_a_file_refers_to_itself_by_its_own_name(first: str) -> None:
    event = of({"$ref": "event.json#/definitions/user"}) | {"definitions": {"user": LOGIN}}
    assert columns(in_files(first, {first: event})) == FOUND


@pytest.mark.parametrize("key", ["const", "default", "enum", "examples", "example"])
def test_a_value_that_looks_like_a_reference_is_none(key: str) -> None:
    value = {"$ref": "user.json"}
    event = of({"type": "object", key: [value] if key in ("enum", "examples") else value})
    found = in_files("event.json", {"event.json": event, "user.json": LOGIN})
    assert found.references == ()


def test_a_property_of_the_name_of_a_keyword_is_a_schema() -> None:
    names = ("default", "enum", "const", "examples")
    for around in ("properties", "definitions", "$defs"):
        for name in names:
            event = {**of({}), "$defs": {}, around: {name: {"$ref": "user.json"}}}
            found = in_files("event.json", {"event.json": event, "user.json": LOGIN})
            assert [each.name for each in found.references] == ["user.json"]


def test_files_may_refer_to_each_other() -> None:
    event = of({"$ref": "user.json#/user"}) | {"login": LOGIN}
    user = {"user": {"$ref": "event.json#/login"}}
    assert columns(in_files("event.json", {"event.json": event, "user.json": user})) == FOUND


def test_files_of_a_schema_that_holds_itself_are_read_once() -> None:
    event = {"type": "object", "properties": {"id": {"type": "string"}, "up": {"$ref": "up.json"}}}
    up = {"type": "object", "properties": {"up": {"$ref": "event.json"}}}
    found = columns(in_files("event.json", {"event.json": event, "up.json": up}))
    assert found == parse_columns("id STRING, up STRUCT<up: STRING>")


@pytest.mark.parametrize("own", [{}, {"$id": "https://example.com/b/event.json"}], ids=str)
def test_a_file_that_is_named_is_found_by_its_id(own: dict[str, Any]) -> None:
    event = of({"$ref": "https://example.com/a/user#/d"}) | own
    user = {"$id": "https://example.com/a/user", "d": {"$ref": "login.json"}}
    files = {"event.json": event, "parts/user.json": user, "parts/login.json": LOGIN}
    assert columns(in_files("event.json", files, "parts/user.json")) == FOUND


def test_a_relative_id_counts_from_the_files_own() -> None:
    event = of({"$ref": "user"}) | {"$id": "https://example.com/a/event"}
    user = LOGIN | {"$id": "https://example.com/a/user"}
    assert columns(in_files("event.json", {"event.json": event, "u.json": user}, "u.json")) == FOUND


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"event.json": of({"$ref": "user.json"})},
        r"^\$\.user: user\.json: expected a file in the folder of the spec, or below it,"
        r" found none: place it beside event\.json, or name in schema_files the file that has it as"
        r" \$id$",
    ),
    (
        {"event.json": of({"$ref": "../user.json"})},
        r"\.\./user\.json: expected a file in the folder of the spec",
    ),
    (
        {"event.json": of({"$ref": "https://example.com/user.json"})},
        r"found \$ref: 'https://example\.com/user\.json'; expected a file: addresses are not"
        r" fetched\. Save it .* name it in schema_files$",
    ),
    ({"event.json": of({"$ref": "file:///etc/passwd"})}, "expected a file: addresses are not"),
    ({"event.json": of({"$ref": "/etc/passwd"})}, "expected a file: addresses are not"),
    (
        {"event.json": of({"$ref": "user.json#/no"}), "user.json": LOGIN},
        r"found \$ref: 'user\.json#/no'; expected a part of user\.json$",
    ),
    (
        {"event.json": of({"$ref": "user.json"}), "user.json": {"$ref": "#/no"}},
        r"found \$ref: '#/no'; expected a part of user\.json$",
    ),
    (
        {"event.json": of({"$ref": "user.json"}), "user.json": b"no JSON"},
        r"^user\.json: expected a JSON schema, found no JSON",
    ),
    (
        {"event.json": of({"$ref": "user.json"}), "user.json": b"[1]"},
        r"^user\.json: expected a JSON schema, found \[1\]",
    ),
    (
        {"event.json": of({"$ref": "user.json"}), "user.json": b"\xff"},
        r"^user\.json: expected text in UTF-8",
    ),
    (
        {
            "event.json": of({"$ref": "user.json"}) | {"$id": "https://example.com/a"},
            "user.json": {**LOGIN, "$id": "https://example.com/a"},
        },
        r"^user\.json: expected an \$id of its own, found 'https://example\.com/a', which event",
    ),
]


@pytest.mark.parametrize(("files", "message"), REFUSED, ids=[each for _, each in REFUSED])
def test_what_leads_nowhere_is_refused_by_name(files: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns(in_files("event.json", files))


def test_a_part_of_a_registered_schema_is_not_looked_for_in_another() -> None:
    found = RegisteredSchema("7", "JSON", json.dumps(of({"$ref": "user.json"})))
    with pytest.raises(ValueError, match="the name of a reference that it is registered with"):
        columns(found)
