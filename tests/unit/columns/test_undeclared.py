"""Undeclared fields: what is said of a path that no schema has, and which field was meant."""

from __future__ import annotations

import pytest
from sluice.columns.columns import parse_columns
from sluice.columns.taking import Taken, parse_path
from sluice.columns.undeclared import Undeclared

FIELDS = "id BIGINT, at BIGINT, source STRUCT<db: STRING, ts_ms: BIGINT>, line1 STRING, `a.b` INT"


def remarks(written: str, at: tuple[str, ...] = (), prefix: str = "") -> list[str]:
    by_name = not written.startswith("$")
    taken = Taken("c", parse_path(written), prefix=prefix, by_name=by_name)
    return [*Undeclared("schema", parse_columns(FIELDS), at).told([taken])]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("$.sourse.ts_ms", "$.source.ts_ms"),
        ("$.source.tsms", "$.source.ts_ms"),
        ("$.SOURCE.TS_MS", "$.source.ts_ms"),
        ("source.ts_ms", "$.source.ts_ms"),
        ("source.ts_mss", "$.source.ts_ms"),
        ("ID", "$.id"),
        ("a_b", "$['a.b']"),
    ],
)
def test_a_declared_field_that_is_near_is_named(written: str, meant: str) -> None:
    (line,) = remarks(written)
    assert f"does not declare this field (did you mean {meant}?)" in line
    assert "`required: [c]`" in line


@pytest.mark.parametrize(
    "written",
    [
        *("$.source.ts_ms", "id", "a.b"),
        *("amount", "$.user.ident", "$.source.host", "$['x.y']", "line2", "x..y"),
    ],
)
def test_a_declared_field_and_one_that_is_near_to_none_are_passed_over(written: str) -> None:
    """Records may have fields that no schema declares."""
    assert remarks(written) == []


def test_a_name_with_dots_is_one_field() -> None:
    (line,) = remarks("user.name")
    assert line.startswith(
        "columns.c: $['user.name']: found user.name, which is the name of one field; expected"
        " $.user.name for a field within another, or $['user.name'] if its name has the dot:"
    )


def test_a_path_begins_at_the_record_that_at_has_opened() -> None:
    for written in ("$.payload.at", "$.payload.att"):
        (line,) = remarks(written, ("payload",))
        assert "found a path that begins with $.payload; expected $.at" in line
        assert "`at` has opened" in line
    (line,) = remarks("$.payload.other", ("payload",))
    assert "expected $.other" in line
    assert remarks("$.payload.other", ("data",)) == []


def test_a_field_of_the_key_is_not_in_the_value() -> None:
    (line,) = remarks("_key_id")
    assert "columns: {_key_id: {from: id}}" in line
    (line,) = remarks("_key_id", prefix="_key_")
    assert line.startswith("columns._key_c: $._key_id: ")
    assert "expected $.id" in line
