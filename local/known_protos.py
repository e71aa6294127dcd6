"""Writes jobs/sluice/schemas/protobuf/known_files.desc: python -m local.known_protos

The files that Confluent's clients and registries know, so that no schema has them among its
references: confluent/… and google/type/…, each as its own Python package has it. Both packages are
under the Apache License 2.0. Nothing of them is imported: that would need all that they need.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

TARGET = Path(__file__).parents[1] / "jobs/sluice/schemas/protobuf/known_files.desc"
# The folder of each package that has them.
PACKAGES = {
    "googleapis-common-protos": "google/type",
    "confluent-kafka": "confluent_kafka/schema_registry/confluent",
}


def known_files() -> FileDescriptorSet:
    """The files by their names, as the installed packages have them."""
    found = [
        FileDescriptorProto.FromString(each)
        for package, folder in PACKAGES.items()
        for each in _descriptors(package, folder)
    ]
    return FileDescriptorSet(file=sorted(found, key=lambda each: str(each.name)))


def _descriptors(package: str, folder: str) -> Iterator[bytes]:
    for each in files(package) or ():
        if each.is_relative_to(folder) and each.name.endswith("_pb2.py"):
            for node in ast.walk(ast.parse(each.read_text())):
                match node:
                    case ast.Call(
                        func=ast.Attribute(attr="AddSerializedFile"),
                        args=[ast.Constant(value=bytes(content))],
                    ):
                        yield content


if __name__ == "__main__":
    TARGET.write_bytes(known_files().SerializeToString())
