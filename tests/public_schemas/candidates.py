"""Candidates: the schemas in a package, and what a spec says of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

from tests.public_schemas.json_files import json_object


@dataclass(frozen=True)
class Candidate:
    """A schema: its package, its place there, and the key `format` of its spec."""

    package: str
    place: str
    format: Mapping[str, Any]


def json_candidates(package: Path) -> Iterator[Candidate]:
    """The JSON schemas of a package, by what they say of themselves."""
    for file in sorted([*package.rglob("*.json"), *package.rglob("*.schema")]):
        if _is_json_schema(file):
            yield _of_file(package, file, "json")


def avro_candidates(package: Path) -> Iterator[Candidate]:
    """The Avro schemas of a package."""
    for file in sorted(package.rglob("*.avsc")):
        yield _of_file(package, file, "avro")


def _of_file(package: Path, file: Path, kind: str) -> Candidate:
    place = str(file.relative_to(package))
    return Candidate(package.name, place, {"type": kind, "schema_file": place})


def _is_json_schema(file: Path) -> bool:
    found = json_object(file)
    has_fields = found.get("type") == "object" and "properties" in found
    return "json-schema" in str(found.get("$schema", "")) or has_fields


class Messages:
    """The Protobuf messages of packages, from the descriptors in their generated Python code."""

    def __init__(self, packages: list[Path]) -> None:
        self._files = {
            package.name: {each.name: each for each in _descriptors(package)}
            for package in packages
        }
        # A package seldom has what it imports of Google's.
        self._all = {n: each for found in self._files.values() for n, each in found.items()}

    def candidates(self, package: Path) -> Iterator[Candidate]:
        """Each message of a package, its file's descriptor set written into its folder."""
        for name, file in sorted(self._files[package.name].items()):
            messages = [each for one in file.message_type for each in _names(one, file.package)]
            if messages:
                known = dict(self._all) | self._files[package.name]
                written = package / (name.replace("/", "_") + ".desc")
                needed = FileDescriptorSet(file=_needed(name, known, {}).values())
                written.write_bytes(needed.SerializeToString())
            for each in messages:
                keys = {"type": "protobuf", "schema_file": written.name, "record": each}
                yield Candidate(package.name, each, keys)


def _descriptors(package: Path) -> Iterator[FileDescriptorProto]:
    for file in sorted(package.rglob("*_pb2.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="AddSerializedFile"),
                    args=[ast.Constant(value=bytes(content))],
                ):
                    yield FileDescriptorProto.FromString(content)


def _needed(
    name: str, files: Mapping[str, FileDescriptorProto], found: dict[str, FileDescriptorProto]
) -> dict[str, FileDescriptorProto]:
    """A file behind all that it imports, as `protoc --include_imports` writes them."""
    if name in files and name not in found:
        for each in files[name].dependency:
            _needed(each, files, found)
        found[name] = files[name]
    return found


def _names(message: DescriptorProto, above: str) -> Iterator[str]:
    if message.options.map_entry:
        return
    name = f"{above}.{message.name}" if above else message.name
    yield name
    for each in message.nested_type:
        yield from _names(each, name)
