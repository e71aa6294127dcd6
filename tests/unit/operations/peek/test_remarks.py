"""Moments in numbers, numbers in texts and dates are told, and the columns stay as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sluice.operations.peek.proposal import propose_spec
from sluice.operations.peek.remarks import remarks_on
from sluice.operations.peek.samples import Samples
from sluice.schemas.inference import infer_columns, parse_object
from sluice.spec_folder import load_spec

# `div` rounds to zero: of a moment before 1970, that would be the later microsecond.
NANOSECONDS = "timestamp_micros(if({0} < 0, try_subtract({0}, 999), {0}) div 1000)"


def remarks(*values: object) -> list[str]:
    objects = [parse_object(json.dumps({"c": each}).encode()) for each in values]
    return list(remarks_on(infer_columns(objects).columns, objects))


def told(name: str, expression: str) -> str:
    return f'derived: {{"{name}": "{expression}"}}'


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1_700_000_000, None], f"seconds since 1970: {told('c_time', 'timestamp_seconds(c)')}"),
        ([1_700_000_000_123], f"milliseconds since 1970: {told('c_time', 'timestamp_millis(c)')}"),
        ([17 * 10**14 + 1], f"microseconds since 1970: {told('c_time', 'timestamp_micros(c)')}"),
        (
            [17 * 10**17 + 1],
            f"nanoseconds since 1970: {told('c_time', NANOSECONDS.format('c'))}",
        ),
    ],
)
def test_moments_are_known_by_their_magnitude(values: list[object], expected: str) -> None:
    assert remarks(*values) == [f"c looks like {expected}"]


@pytest.mark.parametrize(
    "values",
    [
        *([19_675], [1_700_000_000, 1_700_000_000_123], [0], [1.7e9], [True], [None], []),
        *(["007"], ["12.5", "x"], ["1e5"], [""], ["2024-01-05T06:00:00Z"], [1, True]),
    ],
)
def test_other_values_are_left_alone(values: list[object]) -> None:
    assert remarks(*values) == []


def test_numbers_as_text_are_told() -> None:
    whole = told("c_number", "try_cast(c AS BIGINT)")
    assert remarks("12", "-7", None) == [f"c has numbers as text: {whole}"]
    money = told("c_number", "try_cast(c AS DECIMAL(38,2))")
    assert remarks("12.50", "1") == [f"c has numbers as text: {money}"]


def test_numbers_beside_texts_are_told() -> None:
    whole = told("c_number", "try_cast(c AS BIGINT)")
    assert remarks("12", 7, None) == [f"c has numbers, and texts as well: {whole}"]
    money = told("c_number", "try_cast(c AS DECIMAL(38,2))")
    some = f"c has numbers, and texts as well: {money}; null where it has another text"
    assert remarks("12.50", 1, "free") == [some]


def test_few_dates_are_told() -> None:
    expected = ["c looks like a date: declare it as DATE if all records have one there."]
    assert remarks("2023-10-16", "2023-10-16") == expected
    assert remarks("2023-10-16", "2023-10-17", "2023-10-18") == []


def test_fields_of_a_struct_and_odd_names_have_their_path() -> None:
    at = told("c_ts_ms_time", "timestamp_millis(c.ts_ms)")
    assert remarks({"ts_ms": 1_700_000_000_123}) == [
        f"c.ts_ms looks like milliseconds since 1970: {at}"
    ]
    odd = told("c_a_b_number", "try_cast(c.`a-b` AS BIGINT)")
    assert remarks({"a-b": "1"}) == [f"c.`a-b` has numbers as text: {odd}"]
    assert remarks([{"ts_ms": 1_700_000_000_123}]) == []


def test_a_remark_can_be_written_into_the_spec(tmp_path: Path) -> None:
    moments = {unit: 1_700_000_000 * 10**more for unit, more in (("s", 0), ("us", 6), ("ns", 9))}
    value = json.dumps({"größe": "1", "c": {"a-b": "1.5"}, **moments}).encode()
    text = propose_spec("t", "kafka_default", Samples({"t[0]@0": value}))
    keys = re.findall(r"derived: \{(.*)\}", text)
    assert len(keys) == 5
    file = tmp_path / "t.yaml"
    file.write_text(f"{text}derived: {{{', '.join(keys)}}}\n", encoding="utf-8")
    assert load_spec(file).derived == {
        "gr_e_number": "try_cast(`größe` AS BIGINT)",
        "c_a_b_number": "try_cast(c.`a-b` AS DECIMAL(38,1))",
        "s_time": "timestamp_seconds(s)",
        "us_time": "timestamp_micros(us)",
        "ns_time": NANOSECONDS.format("ns"),
    }
