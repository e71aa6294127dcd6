"""Protobuf schemas: the message that a registered schema describes. Pure.

Each schema has a pool of descriptors of its own: two of them may define the same name.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from sluice.schemas.protobuf.known_files import KNOWN, WELL_KNOWN
from sluice.schemas.registered import RegisteredSchema

Indexes = tuple[int, ...]
"""Where a message is within its file, as Confluent's wire format counts: outermost first."""


def message_of(schema: RegisteredSchema, record: str | None) -> Descriptor:
    """The message of this full name; without a name the first one of a registry's schema.

    Raises ValueError for a schema that cannot be read, or does not have it.
    """
    try:
        files = _files(schema)
    except UnicodeDecodeError:
        raise ValueError(f"{schema.key}: expected a descriptor set, found other bytes") from None
    named = {each.full_name: each for file in files for each in messages(file).values()}
    if record is None:
        if not named:
            raise ValueError(f"{schema.key}: expected a message, found none")
        return next(iter(named.values()))
    if record not in named:
        known = ", ".join(sorted(named)) or "none"
        raise ValueError(f"record: expected a message of {schema.key} ({known}), found {record}")
    return named[record]


def messages(file: FileDescriptor, entries: bool = False) -> Mapping[Indexes, Descriptor]:
    """All messages of a file, those within others as well; with `entries`, those of maps, too."""

    def walk(found: Sequence[Descriptor], above: Indexes) -> Iterator[tuple[Indexes, Descriptor]]:
        for index, each in enumerate(found):
            if entries or not each.GetOptions().map_entry:
                yield (*above, index), each
                yield from walk(each.nested_types, (*above, index))

    return dict(walk(list(file.message_types_by_name.values()), ()))


def descriptor_set(message: Descriptor) -> bytes:
    """The message's file and all that it imports, each after those that it needs, serialized."""
    found: dict[str, FileDescriptorProto] = {}

    def add(file: FileDescriptor) -> None:
        if file.name not in found:
            for each in file.dependencies:
                add(each)
            found[file.name] = FileDescriptorProto.FromString(file.serialized_pb)

    add(message.file)
    content: bytes = FileDescriptorSet(file=found.values()).SerializeToString()
    return content


def _files(schema: RegisteredSchema) -> list[FileDescriptor]:
    """The files whose messages may be meant: a registry's schema is one, with references."""
    content = _from_base64(schema.key, schema.text)
    described = _descriptor_set(content)
    if described is not None:
        needed = {each.name: each for each in described.file}
        wanted = list(needed)
    else:
        own = _file(schema.key, content)
        own.name = own.name or schema.key
        needed = {own.name: own}
        for each in schema.references:
            needed[each.name] = _file(each.name, _from_base64(each.name, each.text))
            needed[each.name].name = each.name
        wanted = [own.name]
    pool = DescriptorPool()
    _add_all(schema.key, pool, needed)
    return [pool.FindFileByName(each) for each in wanted]


def _add_all(key: str, pool: DescriptorPool, files: Mapping[str, FileDescriptorProto]) -> None:
    added: set[str] = set()

    def add(name: str, importing: str) -> None:
        if name in added:
            return
        added.add(name)
        if name in WELL_KNOWN:
            content = WELL_KNOWN[name]
        elif name in files:
            content = files[name].SerializeToString()
        elif name in KNOWN:
            content = KNOWN[name]
        else:
            raise ValueError(
                f"{key}: {importing}: expected {name}, which it imports, found no such file. Write"
                " the descriptor set with protoc --include_imports; in a registry, add it to the"
                " schema's references, or name, beside registry, record and a schema_file"
            )
        for each in FileDescriptorProto.FromString(content).dependency:
            add(each, name)
        try:
            pool.AddSerializedFile(content)
        except TypeError as problem:
            raise ValueError(f"{key}: {name}: {problem}") from None

    for each in files:
        add(each, each)


def _from_base64(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(
            f"{name}: expected a descriptor in base64, found another text, or one that protoc could"
            " not compile: the log says why. Correct the schema, or name, beside registry, record"
            " and a schema_file: a descriptor set, written by protoc --descriptor_set_out"
            " --include_imports"
        ) from None


def _descriptor_set(content: bytes) -> FileDescriptorSet | None:
    """None for what is a single file's descriptor: that has fields which a set has not."""
    try:
        found = FileDescriptorSet.FromString(content)
    except DecodeError:
        return None
    whole = found.file and not len(UnknownFieldSet(found))
    return found if whole and all(each.name for each in found.file) else None


def _file(name: str, content: bytes) -> FileDescriptorProto:
    try:
        return FileDescriptorProto.FromString(content)
    except DecodeError:
        raise ValueError(f"{name}: expected a descriptor set, found other bytes") from None
