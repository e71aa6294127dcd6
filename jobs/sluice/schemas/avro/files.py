"""Files of an Avro schema: the types that further ones define, in reading order. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sluice.schemas.avro.parsing import PRIMITIVES, full_name
from sluice.schemas.registered import Reference

_DEFINED = ("record", "error", "enum", "fixed")


@dataclass
class _Names:
    """The types of one file: those that it defines, and those that it uses, by either name."""

    defined: set[str] = field(default_factory=set)
    used: set[tuple[str, str]] = field(default_factory=set)


def in_reading_order(first: Reference, named: Sequence[Reference]) -> tuple[Reference, ...]:
    """The named files, each after those whose types it uses; the first file is read last.

    Raises ValueError for a type that two files define, and for files that use each other's types.
    """
    texts = {each.name: each for each in (*named, first)}
    names = {each: _names_of(texts[each].text) for each in texts}
    homes = _homes(names)
    order: dict[str, None] = {}
    for each in texts:
        _visit(each, names, homes, order, ())
    return tuple(texts[each] for each in order if each != first.name)


def _homes(names: Mapping[str, _Names]) -> Mapping[str, str]:
    """The file that defines each type."""
    homes: dict[str, str] = {}
    for file, found in names.items():
        for name in sorted(found.defined):
            other = homes.setdefault(name, file)
            if other != file:
                raise ValueError(
                    f"{file}: {name} is defined in {other} as well: leave out one of the two"
                )
    return homes


def _visit(
    file: str,
    names: Mapping[str, _Names],
    homes: Mapping[str, str],
    order: dict[str, None],
    above: tuple[str, ...],
) -> None:
    if file in above:
        circle = " → ".join((*above[above.index(file) :], file))
        raise ValueError(f"{circle}: each uses a type of the next: define them in one file")
    if file in order:
        return
    for full, plain in sorted(names[file].used):
        home = homes.get(full, homes.get(plain, file))
        if home != file:
            _visit(home, names, homes, order, (*above, file))
    order[file] = None


def _names_of(text: str) -> _Names:
    """All that can be read of the text; parsing refuses its mistakes afterwards."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return _Names()
    found, waiting = _Names(), [(content, "")]
    while waiting:
        part, space = waiting.pop()
        match part:
            case str() if part not in PRIMITIVES:
                found.used.add((full_name(part, space), part))
            case list():
                waiting += ((each, space) for each in part)
            case dict():
                waiting += _within(part, space, found)
    return found


def _within(part: Mapping[str, Any], space: str, found: _Names) -> Iterator[tuple[Any, str]]:
    kind = part.get("type")
    if kind not in _DEFINED:
        yield {"array": part.get("items"), "map": part.get("values")}.get(str(kind), kind), space
        return
    name = full_name(str(part.get("name")), str(part.get("namespace", space)))
    found.defined.add(name)
    fields = part.get("fields")
    for each in fields if isinstance(fields, list) else ():
        if isinstance(each, dict):
            yield each.get("type"), name.rpartition(".")[0]
