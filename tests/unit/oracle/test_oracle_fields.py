"""The oracle tells decoded fields apart as the reference decoder and Arrow write them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.oracle.json_fields import same

NOON = datetime(2013, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (None, None),
        (1, 1),
        (0.5, 0.5),
        (NOON.replace(tzinfo=None), NOON),
        ({"a": 1}, [("a", 1)]),
        ({"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}),
    ],
)
def test_equal_fields_are_the_same(expected: Any, found: Any) -> None:
    assert same(expected, found)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (None, 0),
        (None, ""),
        (1, True),
        (1, None),
        (0.5, 0.25),
        (Decimal("1.0"), 1.0),
        (NOON.replace(tzinfo=None, microsecond=1), NOON),
        ([1, 2], [1]),
        ({"a": 1}, [("a", 2)]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}),
    ],
)
def test_unequal_fields_are_not_the_same(expected: Any, found: Any) -> None:
    assert not same(expected, found)
