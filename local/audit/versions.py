"""Versions: whether one lies in a range, compared as Python's packages or Maven's artifacts are."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cmp_to_key, lru_cache
from itertools import zip_longest
from typing import Literal

from packaging.version import InvalidVersion, Version

Ecosystem = Literal["pypi", "maven"]
# A part of a range: `>=4.2.0`; parts are joined by commas. Nothing else is understood.
_PART = re.compile(r"(<=|>=|<|>)([0-9A-Za-z][0-9A-Za-z._+-]*)")
_MEETS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
# Maven's documentation, "Version Order Specification": qualifiers in their order, below numbers.
_QUALIFIERS = ("alpha", "beta", "milestone", "rc", "snapshot", "", "sp")
_ALIASES = {"a": "alpha", "b": "beta", "m": "milestone", "cr": "rc"} | dict.fromkeys(
    ("ga", "final", "release"), ""
)
_RELEASE = (_QUALIFIERS.index(""), 0, "")


class UnknownRange(ValueError):
    """A range or a version in another form. The message repeats it."""


def is_in(version: str, given: str, ecosystem: Ecosystem) -> bool:
    """Whether a version meets every part of a range, such as `>=4.2.0,<4.2.13`.

    Raises UnknownRange.
    """
    order = _of_python if ecosystem == "pypi" else _of_maven
    return all(_MEETS[sign](order(version, bound)) for sign, bound in parts(given))


def parts(given: str) -> list[tuple[str, str]]:
    """The signs and bounds of a range. Raises UnknownRange."""
    found = [_PART.fullmatch(each.strip()) for each in given.split(",")]
    if not all(found):
        raise UnknownRange(
            f"expected a range such as '>=4.2.0,<4.2.13' (signs <, <=, >, >=), found {given!r}"
        )
    return [(each[1], each[2]) for each in found if each]


def _of_python(one: str, other: str) -> int:
    try:
        left, right = Version(one), Version(other)
    except InvalidVersion as problem:
        raise UnknownRange(str(problem)) from None
    return (left > right) - (left < right)


def _of_maven(one: str, other: str) -> int:
    for left, right in zip_longest(_items(one), _items(other), fillvalue=_RELEASE):
        if left != right:
            return -1 if left < right else 1
    return 0


@lru_cache
def _items(version: str) -> tuple[tuple[int, int, str], ...]:
    words = re.findall(r"\d+|[a-z]+", version.lower())
    items: list[tuple[int, int, str]] = []
    for each in words:
        if each.isdigit():
            items.append((len(_QUALIFIERS) + 1, int(each), ""))
            continue
        # 1.0-rc is 1-rc.
        _drop_zeros(items)
        name = _ALIASES.get(each, each)
        if name in _QUALIFIERS:
            items.append((_QUALIFIERS.index(name), 0, ""))
        else:
            items.append((len(_QUALIFIERS), 0, name))
    _drop_zeros(items)
    return tuple(items)


def _drop_zeros(items: list[tuple[int, int, str]]) -> None:
    while items and items[-1] in (_RELEASE, (len(_QUALIFIERS) + 1, 0, "")):
        items.pop()


maven_order = cmp_to_key(_of_maven)
"""A key that sorts Maven's versions."""
