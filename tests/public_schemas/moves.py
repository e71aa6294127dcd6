"""Moves: what a refusal says to do, done with the files that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from tests.public_schemas.json_files import json_object

_ADDRESS = re.compile(r"found \$ref: '([^'#]*)[^']*'; expected a file")
_BESIDE = re.compile(r"(\S+): expected a file in the folder of the spec")
_TYPE = re.compile(r"expected a type that is defined before, found '([^']*)'")


class Files:
    """The files of a package, by what their schemas are called."""

    def __init__(self, package: Path) -> None:
        self._package = package

    def wanted(self, refusal: str) -> str | None:
        """The file that a refusal asks for in `schema_files`, if the package has it."""
        if asked := _ADDRESS.search(refusal) or _BESIDE.search(refusal):
            return self._by_address.get(asked[1].rstrip("#"))
        if asked := _TYPE.search(refusal):
            return self._by_type.get(asked[1])
        return None

    @cached_property
    def _by_address(self) -> Mapping[str, str]:
        return dict(self._ids("*.json", "$id")) | dict(self._ids("*.json", "id"))

    @cached_property
    def _by_type(self) -> Mapping[str, str]:
        found = {}
        for file, schema in self._read("*.avsc"):
            namespace, name = schema.get("namespace"), str(schema.get("name", file))
            found[f"{namespace}.{name}" if namespace and "." not in name else name] = file
        return found

    def _ids(self, files: str, key: str) -> Iterator[tuple[str, str]]:
        for file, schema in self._read(files):
            if isinstance(schema.get(key), str):
                yield str(schema[key]).rstrip("#"), file

    def _read(self, files: str) -> Iterator[tuple[str, dict[str, object]]]:
        for each in sorted(self._package.rglob(files)):
            yield str(each.relative_to(self._package)), json_object(each)
