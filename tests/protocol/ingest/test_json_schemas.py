"""JSON schemas in several files, and of records that are not objects: their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.decoding.reference_json_text import Misfit, json_text, one_object, one_value
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ANYTHING = {"max_ratio": 1.0}
TUPLES = [b'[2, "insert", {"id": "3"}]', b'[{"id": "1"}, {"id": "2"}]', b"null", None, b"[NaN]"]


def write(folder: Path, **files: Any) -> None:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def whole(value: bytes) -> dict[str, Any] | None:
    try:
        return {"value": json_text(one_value(value))}
    except Misfit:
        return None


def test_records_that_are_arrays_land_as_json_text(topic: Topic, pipeline: Pipelines) -> None:
    form = {"type": "json", "schema_file": "tuples.json"}
    derived = {"_kind": "get_json_object(value, '$[1]')"}
    trips = pipeline(topic(), quarantine=ANYTHING, format=form, derived=derived)
    write(trips.spec_file.parent, tuples={"type": "array", "items": [{}, {}, {}]})
    produce(trips.bootstrap, trips.topics[0], TUPLES)
    trips.run()
    rows = {row["_offset"]: row for row in trips.rows()}
    assert {offset: row["value"] for offset, row in rows.items()} == {
        0: '[2,"insert",{"id":"3"}]',
        1: '[{"id":"1"},{"id":"2"}]',
        2: "null",
        3: None,
    }
    assert rows[0]["_kind"] == "insert"
    assert [row["_tombstone"] for row in rows.values()] == [False, False, False, True]
    assert [each["error"] for each in trips.quarantined()] == ["not one JSON value"]
    trips.judge(decode=whole)


def of_object(value: bytes) -> dict[str, Any] | None:
    return {"id": one_object(value).last()["id"]}


def test_a_schema_in_several_files_lands(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format={"type": "json", "schema_file": "event.json"})
    event = {"type": "object", "properties": {"id": {"$ref": "parts.json#/definitions/id"}}}
    parts = {"definitions": {"id": {"type": "string"}}}
    write(trips.spec_file.parent, event=event, parts=parts)
    produce(trips.bootstrap, trips.topics[0], [b'{"id": "1", "user": {"login": "x"}}'])
    trips.run()
    assert [row["id"] for row in trips.rows()] == ["1"]
    trips.judge(decode=of_object)
