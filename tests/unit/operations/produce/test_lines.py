"""Lines as records: every line that is not blank is one, and a bad one is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import SettingsError
from sluice.operations.produce.lines import LineRecord, records_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.lists(VALUES), st.sampled_from([b"\n", b"\r\n"]))
def test_each_line_is_one_record_with_its_text_as_it_stands(
    values: list[object], end: bytes
) -> None:
    texts = [json.dumps(each).encode() for each in values]
    found = list(records_of(text + end for text in texts))
    assert found == [LineRecord(number, None, text) for number, text in enumerate(texts, 1)]


def test_blank_lines_are_left_out_and_counted() -> None:
    found = list(records_of([b"\n", b" 1 \n", b"\t\n", b"2"]))
    assert found == [LineRecord(2, None, b" 1 "), LineRecord(4, None, b"2")]


def test_with_raw_every_line_is_taken() -> None:
    found = [each.value for each in records_of([b"{\n", b"\n", b"\xff"], raw=True)]
    assert found == [b"{", b"", b"\xff"]


@pytest.mark.parametrize(
    ("value", "key"),
    [('"ann"', b"ann"), ("12", b"12"), ("true", b"true"), ("null", None), ('[1, "ä"]', None)],
)
def test_a_key_is_a_text_as_it_is_and_else_json(value: str, key: bytes | None) -> None:
    line = f'{{"id": {value}}}'.encode()
    (found,) = records_of([line], "id")
    assert found == LineRecord(1, key if key or value == "null" else b'[1,"\\u00e4"]', line)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"id": 1', "line 2: expected a JSON value on one line, found"),
        (b"\xff", "line 2: expected a JSON value"),
        (b"12", "line 2: expected a JSON object, whose field 'id' is the key, found int"),
        (b"{}", "expected the field 'id' for the key, found no field"),
        (b'{"ids": 1}', "found ids (did you mean ids?)"),
    ],
)
def test_a_bad_line_is_named(line: bytes, told: str) -> None:
    with pytest.raises(SettingsError) as refused:
        list(records_of([b'{"id": 1}\n', line], "id"))
    assert told in str(refused.value)


def test_a_line_that_is_nested_too_deeply_is_named() -> None:
    with pytest.raises(SettingsError, match="line 1: expected a JSON value on one line"):
        list(records_of([b"[" * 100_000]))


def test_half_of_a_surrogate_pair_is_no_key() -> None:
    with pytest.raises(SettingsError, match=r"line 2: expected a text in the field 'k'"):
        list(records_of([b'{"k": "a"}', b'{"k": "\\ud800"}'], "k"))
