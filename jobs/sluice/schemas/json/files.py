"""Files of a JSON schema: those that it refers to by their paths, as far as they lead. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any

from sluice.schemas.registered import Reference
from sluice.schemas.spec_files import SpecFiles, plain_path, text_of

# Their parts are schemas by names of any kind; those of the second are values, and no schemas.
_NAMED = frozenset(
    {
        *("properties", "patternProperties", "dependentSchemas", "dependencies"),
        *("definitions", "$defs"),
    }
)
_VALUES = frozenset({"enum", "const", "default", "examples", "example"})
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/")


def is_path(name: str) -> bool:
    """Whether a reference is a file's path, and no address that only an $id can be."""
    return not _ADDRESS.match(name)


def beside(file: str, path: str) -> str:
    """The path from the folder of the spec, of a path that stands in a file."""
    return plain_path(posixpath.join(posixpath.dirname(file), path))


def with_referenced(
    first: Reference, named: Sequence[Reference], files: SpecFiles
) -> tuple[Reference, ...]:
    """The named files, and those that any of them refers to by a path, each once.

    A path that leads to no file may be an $id: whether it is, is asked where it is used.
    """
    found = {each.name: each.text for each in (first, *named)}
    waiting = [*found]
    while waiting:
        name = waiting.pop()
        for path in _paths(name, found[name]):
            content = None if path in found else files.get(path)
            if content is not None:
                found[path] = text_of(path, content)
                waiting.append(path)
    del found[first.name]
    return tuple(Reference(*each) for each in found.items())


def require_own_ids(texts: Sequence[Reference]) -> None:
    """Raises ValueError where two files have the same $id: which one is meant?"""
    known: dict[str, str] = {}
    for each in texts:
        match _content(each.text):
            case {"$id": str(own)} | {"id": str(own)}:
                other = known.setdefault(own, each.name)
                if other != each.name:
                    raise ValueError(
                        f"{each.name}: expected an $id of its own, found {own!r}, which {other} has"
                    )


def _paths(file: str, text: str) -> Iterator[str]:
    waiting = [(_content(text), False)]
    while waiting:
        found, by_names = waiting.pop()
        match found:
            case dict() as parts if by_names:
                waiting += ((each, False) for each in parts.values())
            case dict() as part:
                waiting += ((v, k in _NAMED) for k, v in part.items() if k not in _VALUES)
                path = str(part.get("$ref") or "").partition("#")[0]
                if path and is_path(path):
                    yield beside(file, path)
            case list() as listed:
                waiting += ((each, False) for each in listed)


def _content(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
