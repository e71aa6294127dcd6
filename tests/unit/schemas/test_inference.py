"""Inferred columns: the parser of specs takes them, and every sample fits them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.columns.columns import parse_columns
from sluice.schemas.inference import infer_columns, parse_object
from sluice.spec_file.formats import JsonFormat

from tests.decoding import reference_json
from tests.decoding.json_records import records
from tests.decoding.reference_json import Undecodable


def schema_of(*values: object) -> str:
    written = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in values]
    return infer_columns(map(parse_object, written)).schema_text


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2**40], "BIGINT"),
        ([2**63 - 1, -(2**63)], "BIGINT"),
        ([2**63], "STRING"),
        ([2**63, 0.5], "STRING"),
        ([1, 1.5], "DOUBLE"),
        ([1.0], "DOUBLE"),
        ([True, False, None], "BOOLEAN"),
        ([True, 1], "STRING"),
        (["UA", ""], "STRING"),
        ([None], "STRING"),
        (["2024-02-27", "2024-02-28", "2024-02-29", "2024-02-29"], "DATE"),
        (["2023-10-16", "2023-10-16", "2024-02-29"], "STRING"),
        (["2023-02-29"], "STRING"),
        (["2024-01-05T06:00:00Z", "2024-01-05 06:00:00.123456789+02:00"], "TIMESTAMP"),
        (["2024-01-05T06:00:00Z", "2024-01-05"], "STRING"),
        (["2024-01-05T06:00:60Z"], "STRING"),
        (["0001-01-01T00:00:00+01:00"], "STRING"),
        (["2024-01-05T06:00:00+01:75"], "STRING"),
        (["2024-01-05T06:00:00Z\n"], "STRING"),
        ([[1, 2], [], None], "ARRAY<BIGINT>"),
        ([[]], "ARRAY<STRING>"),
        ([[1], 1], "STRING"),
        ([{"a": 1}, {"b": [True]}], "STRUCT<a: BIGINT, b: ARRAY<BOOLEAN>>"),
        ([{}], "STRING"),
        ([{"a b": 1}], "STRING"),
        ([{"a": 1}, {"A": 1}], "STRING"),
        ([{f"k{each}": 1} for each in range(101)], "STRING"),
    ],
)
def test_the_type_of_a_column(values: list[object], expected: str) -> None:
    assert schema_of(*({"c": each} for each in values)) == f"c {expected}"


def test_numbers_as_written() -> None:
    assert schema_of(b'{"a": 1e400, "b": -0, "c": 1e3}') == "a STRING,\nb BIGINT,\nc DOUBLE"


def test_names_that_a_table_cannot_have_are_left_out_and_told() -> None:
    first = {"id": 1, "_batch": 1, "ID": 2, "full name": 3, "größe": 4, "": 5, "a\u0007": 6}
    found = infer_columns([parse_object(json.dumps(first).encode())])
    assert found.schema_text == "id BIGINT,\n`größe` BIGINT"
    assert found.left_out == {
        "_batch": "Sluice has its own column of this name",
        "ID": "it differs from id only in case",
        **dict.fromkeys(
            ("full name", "", "a\u0007"), "a column's name cannot hold such characters"
        ),
    }


@pytest.mark.parametrize(
    "value",
    [
        *(b"", b"no", b"[1]", b"1", b'{"a": NaN}', b'{"a": 1} x', b'{"a": "\\ud800"}', b"\xff"),
        *(b'{"a": "\t"}', b'{"a":' * 1_001 + b"1" + b"}" * 1_001, b"[" * 10**6),
    ],
)
def test_what_would_be_quarantined_is_no_object(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_object(value)


NAMES = st.text(max_size=6) | st.sampled_from(["a", "A", "id", "_x", "x y", "`", "ß", "a.b"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
    | st.dates().map(str)
    | st.datetimes(timezones=st.timezones() | st.none()).map(lambda each: each.isoformat())
)
VALUES = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(NAMES, part, max_size=3),
    max_leaves=8,
)


def fits(values: list[bytes]) -> None:
    inferred = infer_columns(map(parse_object, values))
    if not inferred.columns:
        return
    assert parse_columns(inferred.schema_text) == inferred.columns
    JsonFormat.model_validate({"type": "json", "schema": inferred.schema_text})
    for value in values:
        decoded = reference_json.decode(value, inferred.schema_text, allow_unmatched=True)
        assert not isinstance(decoded, Undecodable), (value, inferred.schema_text)


@settings(deadline=None)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=6))
def test_every_sample_fits_the_inferred_columns(objects: list[dict[str, Any]]) -> None:
    fits([json.dumps(each).encode() for each in objects])


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_awkward_records_are_no_objects_or_fit(seed: int) -> None:
    accepted = []
    for value in filter(None, records(seed, 60)):
        try:
            parse_object(value)
        except ValueError:
            continue
        accepted.append(value)
        found = reference_json.decode(value, "a STRING", allow_unmatched=True)
        assert not isinstance(found, Undecodable), value
    fits(accepted)
