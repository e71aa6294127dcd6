"""Calls: a function of the allowed ones, and its arguments. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sluice.derived.allowed_functions import FUNCTIONS, INSTEAD
from sluice.derived.typed import Typed
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
            raise ValueError(f"found {shown}; expected as argument {position + 1} {kind.words}")
    if len(given) < len(function.takes):
        raise ValueError(f"found {shown}; expected {len(function.takes)} arguments")
    types = [each.type for each in given]
    gives = function.gives(types) if callable(function.gives) else function.gives
    if gives is None:
        raise ValueError(f"found {shown}; expected arguments of one type: CAST or try_cast one")
    arguments = [each.sql for each in given]
    sql = function.guard(*arguments) if function.guard else f"{name}({', '.join(arguments)})"
    return Typed(sql, gives)


def _shown(given: Typed) -> str:
    return str(given.type) if given.written is None else given.sql
