"""Places: where values hold their records as JSON text, such as in one member. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.columns.declared import path_of
from sluice.schemas.inference import Object, parse_object
from sluice.schemas.json_flaws import object_in_text

Path = tuple[str, ...]


@dataclass(frozen=True)
class Placed:
    """Values, or the records within most of them; then `at` says where, as the spec has it."""

    values: Mapping[str, bytes | None]
    at: str = ""
    broken: Mapping[str, str] = field(default_factory=dict)
    """Why there is no record in the others."""


def placed(values: Mapping[str, bytes | None]) -> Placed:
    """The records of these values, by where these are."""
    objects = {where: _parsed(each) for where, each in values.items()}
    places = Counter(
        path
        for where, each in values.items()
        if each is not None and (path := _place_in(each, objects[where])) is not None
    )
    total = sum(each is not None for each in values.values())
    for path, count in places.most_common(1):
        if 2 * count > total:
            return _taken(values, objects, path)
    return Placed(values)


def _parsed(value: bytes | None) -> Object | None:
    try:
        return None if value is None else parse_object(value)
    except ValueError:
        return None


def _place_in(value: bytes, found: Object | None) -> Path | None:
    """Where a value holds an object as text: all of it does, or its only member."""
    if found is None:
        return () if object_in_text(value) is not None else None
    (name, member), *others = found.items() or [("", None)]
    is_text = type(member) is str and object_in_text(_as_json(member)) is not None
    return (name,) if is_text and not others else None


def _taken(
    values: Mapping[str, bytes | None], objects: Mapping[str, Object | None], path: Path
) -> Placed:
    found, broken = dict(values), dict[str, str]()
    for where, value in values.items():
        if value is None:
            continue
        if not path:
            found[where] = object_in_text(value) or value
        elif (known := objects[where]) is not None and path[0] in known:
            part = _as_json(json.loads(value)[path[0]])
            found[where] = object_in_text(part) or part
        elif known is not None:
            broken[where] = f"expected the field {path[0]}, where the record is, found none"
    return Placed(found, path_of(path), broken)


def _as_json(part: object) -> bytes:
    return json.dumps(part).encode()
