"""Variants: why a JSON value cannot be one. Pure.

In Scala: jobs/jvm/json/JsonVariant.scala, which must stay in step; test_proposal asks the
reference of the tests.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sluice.columns.columns import MOST_DIGITS
from sluice.schemas.inference import Real, Whole

_LEVELS = 500
# The most that a text of a double needs, and those of a decimal with its sign and a zero in front.
_DOUBLES_DIGITS = 17
_LONGEST = MOST_DIGITS + 3
_SHOWN = 50


def misfit(value: Any) -> str:
    """The first reason, of a value as `inference` parses it; empty where it fits."""
    waiting = [(value, 0)]
    while waiting:
        each, level = waiting.pop()
        if isinstance(each, Whole | Real):
            if not _fits(each):
                shown = each if len(each) <= _SHOWN else f"{each[:_SHOWN]}…"
                return (
                    f"expected a number of at most {MOST_DIGITS} digits without exponent, or of a"
                    f" DOUBLE, for VARIANT, found {shown}"
                )
        elif isinstance(each, dict | list):
            if level == _LEVELS:
                return f"expected a VARIANT of at most {_LEVELS} levels, found more"
            parts = [*(each.values() if isinstance(each, dict) else each)]
            waiting += [(part, level + 1) for part in reversed(parts)]
    return ""


def _fits(number: str) -> bool:
    """Whether a decimal holds it as it is written, or a double with all its digits."""
    mantissa = number.lower().partition("e")[0]
    if mantissa == number and len(number) <= _LONGEST:
        _, found, exponent = Decimal(number).as_tuple()
        if max(len(found), -int(exponent)) <= MOST_DIGITS:
            return True
    near, digits = abs(float(number)), mantissa.replace(".", "").strip("-0")
    return len(digits) <= _DOUBLES_DIGITS and near != float("inf") and (near > 0 or not digits)
