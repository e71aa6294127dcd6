"""Deleting conditions: the few forms of a spec's `state.deleted_when` that need no Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.worlds.written_lake.state import Unsupported

_NAME = r"`?(?P<name>\w+)`?"
_IS_TRUE = re.compile(_NAME)
_IS_NULL = re.compile(_NAME + r"\s+IS\s+NULL", re.IGNORECASE)
_EQUALS = re.compile(_NAME + r"\s*=\s*(?:'(?P<text>[^'\\]*)'|(?P<number>-?\d+(?:\.\d+)?))")


def meets(row: Mapping[str, Any], condition: str) -> bool:
    """Whether a row of the log meets it; one that is null is not met.

    Raises Unsupported for another form than `column`, `column IS NULL`, and `column = ` a text or
    a number.
    """
    asked = condition.strip()
    for form in (_IS_TRUE, _IS_NULL, _EQUALS):
        if found := form.fullmatch(asked):
            value = _value(row, found["name"])
            if form is _IS_TRUE:
                return value is True
            return value is None if form is _IS_NULL else _equals(value, found)
    raise Unsupported(f"state.deleted_when: {condition!r}")


def _value(row: Mapping[str, Any], name: str) -> Any:
    return next((value for each, value in row.items() if each.lower() == name.lower()), None)


def _equals(value: Any, found: re.Match[str]) -> bool:
    if value is None:
        return False
    return bool(value == (Decimal(found["number"]) if found["text"] is None else found["text"]))
