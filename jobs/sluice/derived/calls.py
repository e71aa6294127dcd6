"""Calls: a function of the allowed ones, and its arguments. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.columns.columns import ColumnType
from sluice.derived.allowed_functions import FUNCTIONS, INSTEAD, Function, Named
from sluice.derived.casts import OF_VARIANT, VARIANT
from sluice.derived.typed import Typed
from sluice.derived.written_values import text_of
from sluice.errors import did_you_mean


def called(name: str, given: Sequence[Typed]) -> Typed:
    """What a function gives. Raises ValueError for another function, or an argument unfit for it.

    The function must have an answer for every value: see `allowed_functions`.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        better = f"write {INSTEAD[name]}" if name in INSTEAD else ""
        known = ("filter", "exists", "from_json", *FUNCTIONS)
        allowed = f"allowed{did_you_mean(name, known)}: {', '.join(known)}"
        raise ValueError(f"found {name}(…); {better or allowed}")
    shown = f"{name}({', '.join(_shown(each) for each in given)})"
    for position, argument in enumerate(given):
        kind = function.kind_of(position)
        if kind is None:
            raise ValueError(f"found {shown}; expected {position} arguments")
        if not kind.fits(argument):
            better = f": {OF_VARIANT}" if argument.type == VARIANT else ""
            raise ValueError(
                f"found {shown}; expected as argument {position + 1} {kind.words}{better}"
            )
    if len(given) < len(function.takes):
        raise ValueError(f"found {shown}; expected {len(function.takes)} arguments")
    gives = _result(function, given, shown)
    arguments = [each.sql for each in given]
    if isinstance(function.gives, Named):
        arguments[-1] = text_of(str(gives)).sql
    sql = function.guard(*arguments) if function.guard else f"{name}({', '.join(arguments)})"
    return Typed(sql, gives)


def _result(function: Function, given: Sequence[Typed], shown: str) -> ColumnType:
    if isinstance(function.gives, Named):
        try:
            return function.gives.read(str(given[-1].written))
        except ValueError as problem:
            raise ValueError(f"found {shown}; {problem}") from None
    types = [each.type for each in given]
    gives = function.gives(types) if callable(function.gives) else function.gives
    if gives is None:
        raise ValueError(f"found {shown}; expected arguments of one type: CAST or try_cast one")
    return gives


def _shown(given: Typed) -> str:
    return str(given.type) if given.written is None else given.sql
