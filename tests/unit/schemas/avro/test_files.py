"""An Avro schema in several files: each is read after those whose types it uses."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema


def record(name: str, **fields: Any) -> dict[str, Any]:
    listed = [{"name": each, "type": kind} for each, kind in fields.items()]
    return {"type": "record", "name": name, "fields": listed}


ALERT = record("sky.Alert", id="long", source="sky.Source", seen={"type": "array", "items": "Band"})
SOURCE = record("sky.Source", band=["null", "Band"], place={"type": "map", "values": "maps.Place"})
BAND = {"type": "enum", "name": "Band", "namespace": "sky", "symbols": ["R", "G"]}
PLACE = record("maps.Place", ra="double", dec="double")
FILES = {"alert.avsc": ALERT, "source.avsc": SOURCE, "band.avsc": BAND, "maps/place.avsc": PLACE}
COLUMNS = parse_columns(
    "id BIGINT, source STRUCT<band: STRING, place: MAP<STRING, STRUCT<ra: DOUBLE, dec: DOUBLE>>>,"
    " seen ARRAY<STRING>"
)
FURTHER = ("source.avsc", "band.avsc", "maps/place.avsc")


def in_files(first: str, *named: str, **changed: Any) -> RegisteredSchema:
    given = FILES | {name.replace("__", "."): each for name, each in changed.items()}
    contents = {
        name: each if isinstance(each, bytes) else json.dumps(each).encode()
        for name, each in given.items()
    }
    kind = kind_of("AVRO")
    found = kind.with_files(kind.of_file(first, contents[first]), named, contents)
    _ = kind.declared(found, None).columns
    return found


@pytest.mark.parametrize("named", [*itertools.permutations(FURTHER)])
def test_the_files_may_be_named_in_any_order(named: tuple[str, ...]) -> None:
    found = in_files("alert.avsc", *named)
    assert kind_of("AVRO").declared(found, None).columns == COLUMNS
    assert found.digest == in_files("alert.avsc", *FURTHER).digest


def test_each_file_decides_rows() -> None:
    before = in_files("alert.avsc", *FURTHER).digest
    assert in_files("alert.avsc", *FURTHER, band__avsc={**BAND, "symbols": ["R"]}).digest != before
    alone = in_files("band.avsc")
    assert alone.references == ()


REFUSED: list[tuple[list[str], dict[str, Any], str]] = [
    (
        ["source.avsc", "band.avsc"],
        {},
        r"^source\.avsc: place: values: expected a type that is defined before, found"
        r" 'maps\.Place': name the file that defines it in schema_files$",
    ),
    (
        [],
        {},
        "^source: expected a type that is defined before, found 'sky.Source': name the file that",
    ),
    (
        [*FURTHER, "again.avsc"],
        {"again__avsc": BAND},
        r"^again\.avsc: sky\.Band is defined in band\.avsc as well: leave out one of the two$",
    ),
    (
        [*FURTHER],
        {"source__avsc": record("sky.Source", of="sky.Alert")},
        r"^source\.avsc → alert\.avsc → source\.avsc: each uses a type of the next: define them in",
    ),
    (
        ["a.avsc", "b.avsc", *FURTHER],
        {"a__avsc": record("A", b="B"), "b__avsc": record("B", a="A")},
        r"^a\.avsc → b\.avsc → a\.avsc: each uses a type of the next: define them in one file$",
    ),
    ([*FURTHER, "x.avsc"], {"x__avsc": b"no JSON"}, r"^x\.avsc: expected JSON, found "),
    ([*FURTHER, "x.avsc"], {"x__avsc": {"type": 7}}, r"^x\.avsc: expected a type, found 7"),
    ([*FURTHER, "x.avsc"], {"x__avsc": b"\xff"}, r"^x\.avsc: expected text in UTF-8"),
]


@pytest.mark.parametrize(("named", "changed", "message"), REFUSED, ids=[e for *_, e in REFUSED])
def test_what_cannot_be_read_is_refused_by_name(
    named: list[str], changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        in_files("alert.avsc", *named, **changed)


def test_a_file_may_hold_itself() -> None:
    with pytest.raises(ValueError, match="expected a record that can end"):
        in_files("alert.avsc", *FURTHER, source__avsc=record("sky.Source", of="sky.Source"))
