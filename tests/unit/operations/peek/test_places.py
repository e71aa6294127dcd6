"""Values that hold their records as JSON text: the spec that peek proposes for them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.operations.peek.packing import unpacked
from sluice.operations.peek.places import placed
from sluice.operations.peek.proposal import propose_spec
from sluice.operations.peek.samples import Samples
from sluice.spec_file.formats import JsonFormat
from sluice.spec_folder import load_spec

from tests.worlds.debezium_events import event


def text_of(*values: Any) -> str:
    written = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in values]
    opened = unpacked({f"t[0]@{n}": each for n, each in enumerate(written)})
    return propose_spec("t", "kafka_default", Samples.of(opened, {}), opened.compression)


def format_of(folder: Path, *values: Any) -> JsonFormat:
    file = folder / "proposed.yaml"
    file.write_text(text_of(*values), encoding="utf-8")
    found = load_spec(file).format
    assert isinstance(found, JsonFormat)
    return found


ROW = json.dumps({"id": 1, "name": "K\u00f6ln"})


@pytest.mark.parametrize(
    ("value", "at"),
    [
        (ROW, "$"),
        (json.dumps(ROW), "$"),
        ({"payload": ROW}, "$.payload"),
        ({"event-type's": json.dumps(ROW)}, "$['event-type\\'s']"),
        (gzip.compress(json.dumps({"p": ROW}).encode(), mtime=0), "$.p"),
    ],
)
def test_the_place_is_proposed_with_the_columns_of_what_is_there(
    tmp_path: Path, value: Any, at: str
) -> None:
    found = format_of(tmp_path, value, value)
    assert (found.at, found.columns) == (at, parse_columns("id BIGINT, name STRING"))
    assert "# JSON is within JSON here, as text" in text_of(value)


@pytest.mark.parametrize("value", [{"id": 1, "p": ROW}, {"p": "x"}, {"p": {"id": 1}}, {"p": "[]"}])
def test_other_values_have_no_place(tmp_path: Path, value: Any) -> None:
    assert format_of(tmp_path, value).at is None
    assert placed({"t[0]@0": b"[]", "t[0]@1": None}).at == ""


def test_objects_among_texts_are_records_as_well_and_others_are_told(tmp_path: Path) -> None:
    found = text_of({"p": ROW}, {"p": ROW}, {"p": ROW}, {"p": {"big": 2**70}}, {"q": 1})
    assert 'at: "$.p"' in found
    assert "big STRING" in found
    assert "t[0]@4: expected the field p, where the record is, found none" in found
    assert "1 of 5 values would be quarantined" in found
    assert format_of(tmp_path, ROW, ROW, {"x": 1}).columns == parse_columns(
        "id BIGINT, name STRING, x BIGINT"
    )


def test_an_event_in_a_text_is_proposed_without_the_envelope(tmp_path: Path) -> None:
    value = event("c")
    assert value
    found = format_of(tmp_path, {"p": value.decode()})
    assert (found.at, found.envelope) == ("$.p", None)


def test_a_member_among_others_that_holds_an_object_as_text_is_told() -> None:
    assert "# p has JSON objects as text: `at` in format lands" in text_of({"id": 1, "p": ROW})
