"""A frame, a compression or an encoding is known by the first bytes."""

from __future__ import annotations

import pytest
from sluice.schemas.value_kinds import kind_of

from tests.worlds.named_values import KINDS, UNKNOWN


@pytest.mark.parametrize(("value", "kind"), KINDS.items(), ids=str)
def test_the_first_bytes_name_the_kind(value: bytes, kind: str) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize("value", UNKNOWN, ids=str)
def test_other_values_have_no_kind(value: bytes) -> None:
    assert kind_of(value) == ""
