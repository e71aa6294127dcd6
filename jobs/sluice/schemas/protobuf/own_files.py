"""Own files: messages that are read by their names, and what only has such a name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from google.protobuf import duration_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor

from sluice.schemas.protobuf.known_files import known_message

_OWN = {
    each.full_name: each
    for file in (duration_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
    for each in file.DESCRIPTOR.message_types_by_name.values()
}


def another_message(message: Descriptor) -> str | None:
    """Which message of a file of the user's has the name of one of Protobuf's, but not its fields.

    None for Protobuf's own and copies of it, and for all other names.
    """
    own = _OWN.get(message.full_name)
    if own is None:
        return None
    # Those of JSON are within one another.
    needed = list(own.file.message_types_by_name) if own.file.name.endswith("struct.proto") else []
    for name in (message.name, *needed):
        found = message.file.message_types_by_name.get(name)
        expected = own.file.message_types_by_name[name]
        if found is None or set(_shape([found])) != set(_shape([expected])):
            return str(expected.full_name)
    return None


def is_known(message: Descriptor) -> bool:
    """Whether a message with the name of one of the known files has exactly its fields."""
    return set(_shape([message])) == set(_shape([known_message(message.full_name)]))


def _shape(messages: Iterable[Descriptor]) -> Iterator[tuple[object, ...]]:
    for message in messages:
        for each in message.fields:
            kind = each.message_type or each.enum_type
            named = kind.full_name if kind else None
            yield message.full_name, each.number, each.name, each.type, each.is_repeated, named
        yield from _shape(message.nested_types)
