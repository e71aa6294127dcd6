"""Conditions on columns, as Arrow's expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from sluice.tables.arrow_datasets import dataset as pads

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda column, values: column.isin(list(values)),
}


def met(field: pa.Field, compared: str, value: Any) -> pads.Expression:
    """Whether a column meets a condition: `=`, `<`, `<=`, `>`, `>=` or `in`.

    Files that delta-rs has merged (1.6) hold views of texts. Arrow compares a text with none of
    them, in a file's statistics (pyarrow 26), unless the column is cast.
    """
    column = pads.field(field.name)
    if pa.types.is_string(field.type):
        column = column.cast(pa.string())
    found: pads.Expression = _OPERATORS[compared](column, value)
    return found
