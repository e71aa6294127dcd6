"""Whole values: JSON without fields for columns, which one column `value` takes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.columns.columns import Array, Column, Primitive, Struct
from sluice.schemas.inference import Inferred, infer_columns, parse_value
from sluice.schemas.variants import misfit

_COLUMN = "value"


@dataclass(frozen=True)
class WholeValues:
    """The one column that takes each value, and why it does not take the others."""

    inferred: Inferred
    problems: Mapping[str, str]

    @property
    def is_variant(self) -> bool:
        """Whether it takes JSON of any shape; else only arrays of objects."""
        return self.inferred.columns[0].type == Primitive("VARIANT")


def whole_values(values: Mapping[str, bytes], broken: Mapping[str, str]) -> WholeValues | None:
    """The column of these values, where most are JSON; `broken` says why some are nothing."""
    parsed, problems = {}, dict(broken)
    for where, each in values.items():
        if where in broken:
            continue
        try:
            parsed[where] = parse_value(each)
        except ValueError as problem:
            problems[where] = str(problem)
    if not parsed or len(problems) > len(parsed):
        return None
    return _of_arrays(parsed, problems) or _of_any(parsed, problems)


def _of_arrays(parsed: Mapping[str, Any], problems: Mapping[str, str]) -> WholeValues | None:
    """Where each is an array, and their elements are objects whose fields a STRUCT holds."""
    if not all(isinstance(each, list) for each in parsed.values()):
        return None
    found = infer_columns({_COLUMN: each} for each in parsed.values())
    match found.columns[0].type:
        case Array(Struct()):
            return WholeValues(found, problems)
    return None


def _of_any(parsed: Mapping[str, Any], problems: Mapping[str, str]) -> WholeValues:
    column = Inferred((Column(_COLUMN, Primitive("VARIANT")),), {})
    told = {where: each.replace("JSON object", "JSON value") for where, each in problems.items()}
    misfits = {where: why for where, each in parsed.items() if (why := misfit(each))}
    return WholeValues(column, told | misfits)
