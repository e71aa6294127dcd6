"""Known files: what every Protobuf client and registry has, and no schema registers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_database import DescriptorDatabase
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

# Of Google's library itself: no file of a registry stands in for one of these.
WELL_KNOWN: Mapping[str, bytes] = {
    each.DESCRIPTOR.name: each.DESCRIPTOR.serialized_pb
    for each in (
        import_module(f"google.protobuf.{name}_pb2")
        for name in (
            *("any", "api", "descriptor", "duration", "empty", "field_mask"),
            *("source_context", "struct", "timestamp", "type", "wrappers"),
        )
    )
}
# Google's common types and Confluent's, both under the Apache License 2.0: a descriptor set.
# local/known_protos.py makes it from the packages googleapis-common-protos and confluent-kafka.
KNOWN_SET = (files("sluice.schemas.protobuf") / "known_files.desc").read_bytes()
KNOWN: Mapping[str, bytes] = {
    each.name: each.SerializeToString() for each in FileDescriptorSet.FromString(KNOWN_SET).file
}
"""Files that a schema may import without a reference; one that is its reference comes first."""


@cache
def known_message(name: str) -> Descriptor:
    """A message of one of the files, by its full name."""
    files = DescriptorDatabase()
    for content in (*WELL_KNOWN.values(), *KNOWN.values()):
        files.Add(FileDescriptorProto.FromString(content))
    return DescriptorPool(files).FindMessageTypeByName(name)
