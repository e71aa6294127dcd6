"""A declared column that a table stores as another type is found by comparing the two."""

from __future__ import annotations

import pytest
from hypothesis import given
from sluice.columns.columns import Column, parse_columns
from sluice.columns.type_changes import type_changes

from tests.unit.columns.test_columns import column_lists, types


@pytest.mark.parametrize(
    ("stored", "declared", "changed"),
    [
        ("a BIGINT, b STRING", "b STRING, a BIGINT", []),
        ("a BIGINT", "A BIGINT", []),
        ("a BIGINT, gone DOUBLE", "a BIGINT, added DATE", []),
        ("a BIGINT", "a STRING", ["a BIGINT STRING"]),
        ("a TINYINT, b INT", "a INT, b SMALLINT", []),
        ("a INT", "a BIGINT", ["a INT BIGINT"]),
        ("a DECIMAL(5,2)", "a DECIMAL(6,2)", ["a DECIMAL(5,2) DECIMAL(6,2)"]),
        ("a STRUCT<x: INT>", "a STRUCT<x: INT, y: DATE>", []),
        ("a STRUCT<x: INT>", "a STRUCT<X: DATE>", ["a.X INT DATE"]),
        ("a ARRAY<INT>", "a ARRAY<STRING>", ["a[] INT STRING"]),
        ("a ARRAY<STRUCT<x: INT>>", "a ARRAY<STRUCT<x: DATE>>", ["a[].x INT DATE"]),
        ("a MAP<STRING, INT>", "a MAP<STRING, DATE>", ["a{} INT DATE"]),
        ("a ARRAY<INT>", "a INT", ["a ARRAY<INT> INT"]),
    ],
)
def test_what_an_append_would_be_refused_for_is_named(
    stored: str, declared: str, changed: list[str]
) -> None:
    found = type_changes(parse_columns(stored), parse_columns(declared))
    assert [f"{each.name} {each.stored} {each.declared}" for each in found] == changed


@pytest.mark.parametrize(
    ("stored", "wider", "others"),
    [
        ("TINYINT", ["BIGINT", "DOUBLE", "DECIMAL(10,0)"], ["FLOAT", "DECIMAL(9,0)", "STRING"]),
        ("INT", ["BIGINT", "DOUBLE", "DECIMAL(12,2)"], ["DECIMAL(11,2)", "DATE"]),
        ("BIGINT", ["DECIMAL(20,0)"], ["INT", "DOUBLE", "DECIMAL(19,0)"]),
        ("FLOAT", ["DOUBLE"], ["BIGINT", "DECIMAL(38,10)"]),
        ("DOUBLE", [], ["FLOAT", "DECIMAL(38,10)"]),
        ("DECIMAL(10,2)", ["DECIMAL(12,2)", "DECIMAL(12,3)"], ["DECIMAL(11,4)", "DECIMAL(9,2)"]),
        ("DATE", [], ["TIMESTAMP"]),
    ],
)
def test_what_delta_widens_is_told_from_other_changes(
    stored: str, wider: list[str], others: list[str]
) -> None:
    before = parse_columns(f"a STRUCT<x: ARRAY<{stored}>>")
    found = {}
    for name in (*wider, *others):
        (change,) = type_changes(before, parse_columns(f"a STRUCT<x: ARRAY<{name}>>"))
        found[name] = change.widens
    assert found == dict.fromkeys(wider, True) | dict.fromkeys(others, False)


@given(column_lists(types, 1))
def test_what_is_stored_as_it_is_declared_has_not_changed(columns: list[Column]) -> None:
    assert not list(type_changes(columns, columns))
