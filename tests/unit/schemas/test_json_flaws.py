"""What is not one JSON object is told by its flaw, and the reason repeats nothing of the record."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.schemas.inference import parse_object
from sluice.schemas.json_flaws import flaw_of

from tests.decoding.json_records import records
from tests.worlds.named_values import NOT_ONE, REASONS


@pytest.mark.parametrize(("value", "reason"), REASONS.items(), ids=lambda each: repr(each)[:40])
def test_the_reason_names_the_flaw_and_its_byte(value: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"\A{re.escape(reason)}\Z"):
        parse_object(value)


def why(value: bytes) -> str | None:
    try:
        parse_object(value)
    except ValueError as problem:
        return str(problem)
    return None


@given(st.integers(0, 2**32))
def test_a_record_has_a_flaw_or_is_an_object(seed: int) -> None:
    for value in filter(None, records(seed, 60)):
        require_a_reason(value)


@given(st.text("{}[]:,\"'\\ \t0-.eENaIntrue/x", max_size=12).map(str.encode) | st.binary())
def test_small_values_have_a_flaw_or_are_objects(value: bytes) -> None:
    require_a_reason(value)


def require_a_reason(value: bytes) -> None:
    reason = why(value)
    if reason is None:
        assert flaw_of(value) == NOT_ONE, value
    else:
        assert re.match(r"not one JSON object: |not strict UTF-8: |a lone surrogate", reason), value
        assert len(reason) < 120, value
