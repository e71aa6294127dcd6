"""Parts of a spec take what YAML gave them at its word."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from sluice.strict_model import Model


class Part(Model):
    count: int = 0
    name: str = ""
    ratio: float = 0.0


@pytest.mark.parametrize(
    "keys",
    [
        {"count": "12"},
        {"count": True},
        {"count": 1.0},
        {"count": None},
        {"name": 1},
        {"name": None},
        {"name": b"x"},
        {"ratio": "0.5"},
        {"ratio": False},
        {"other": 1},
    ],
    ids=str,
)
def test_nothing_is_converted_and_nothing_unknown_let_in(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Part.model_validate(keys)


def test_a_whole_number_is_a_ratio_too() -> None:
    assert Part.model_validate({"ratio": 1}).ratio == 1.0


def test_a_part_is_frozen_and_compares_by_value() -> None:
    part = Part(count=1)
    assert part == Part(count=1)
    with pytest.raises(ValidationError, match="frozen"):
        part.count = 2  # type: ignore[misc]
