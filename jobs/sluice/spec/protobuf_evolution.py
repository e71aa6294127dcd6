"""Protobuf evolution: whether what one message wrote can be read as another. Pure.

Protobuf itself finds each field by its number, and takes its bytes for whatever the reader
declares: an int64 is cut to an int32, a sint32 becomes another number.
"""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor, FieldDescriptor

_F = FieldDescriptor
_NAMES: Mapping[int, str] = {
    getattr(_F, name): name.removeprefix("TYPE_").lower()
    for name in dir(_F)
    if name.startswith("TYPE_")
}
# What else a value may be read as, with the same meaning whatever it is. What only some values
# fit is judged with each: a number that is no name of an enum, bytes that are no text.
_ALSO: Mapping[int, frozenset[int]] = {
    _F.TYPE_BOOL: frozenset((_F.TYPE_INT32, _F.TYPE_INT64, _F.TYPE_UINT32, _F.TYPE_UINT64)),
    _F.TYPE_ENUM: frozenset((_F.TYPE_INT32, _F.TYPE_INT64)),
    _F.TYPE_INT32: frozenset((_F.TYPE_INT64, _F.TYPE_ENUM)),
    _F.TYPE_UINT32: frozenset((_F.TYPE_INT64, _F.TYPE_UINT64)),
    _F.TYPE_SINT32: frozenset((_F.TYPE_SINT64,)),
    _F.TYPE_STRING: frozenset((_F.TYPE_BYTES,)),
    _F.TYPE_BYTES: frozenset((_F.TYPE_STRING,)),
}


def clash(writer: Descriptor, reader: Descriptor) -> str | None:
    """The first field whose values would be read as others, and why; None if there is none."""
    return _clash(writer, reader, "", set())


def _clash(
    writer: Descriptor, reader: Descriptor, above: str, seen: set[tuple[str, str]]
) -> str | None:
    pair = (writer.full_name, reader.full_name)
    if pair in seen:
        return None
    seen.add(pair)
    written = {each.number: each for each in writer.fields}
    for field in reader.fields:
        if field.number in written:
            found = _field(written[field.number], field, f"{above}{field.name}", seen)
            if found:
                return found
    return None


def _field(
    written: FieldDescriptor, read: FieldDescriptor, path: str, seen: set[tuple[str, str]]
) -> str | None:
    fits = read.type == written.type or read.type in _ALSO.get(written.type, ())
    if not fits or (written.is_repeated and not read.is_repeated):
        return f"{path}: expected {_told(read)}, found {_told(written)}"
    if read.message_type is None:
        return None
    return _clash(written.message_type, read.message_type, f"{path}.", seen)


def _told(field: FieldDescriptor) -> str:
    return f"{'repeated ' if field.is_repeated else ''}{_NAMES[field.type]}"
