"""Protobuf evolution: whether what one message wrote can be read as another. Pure.

Protobuf itself finds each field by its number, and takes its bytes for whatever the reader
declares: an int64 is cut to an int32, a sint32 becomes another number.
"""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

_F = FieldDescriptor
_NAMES: Mapping[int, str] = {
    getattr(_F, name): name.removeprefix("TYPE_").lower()
    for name in dir(_F)
    if name.startswith("TYPE_")
}
# Types that any value of a type may be read as, with the same meaning. A type that only some values
# fit is judged with each value: a number without a name in an enum, bytes that are not text.
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
    if _was_met(writer, reader, seen):
        return None
    written = {each.number: each for each in writer.fields}
    for field in reader.fields:
        if field.number in written:
            found = _field(written[field.number], field, f"{above}{field.name}", seen)
            if found:
                return found
    for choice in reader.oneofs:
        theirs = [written[each.number] for each in choice.fields if each.number in written]
        # If several are set together, Protobuf keeps only the last.
        if len({x.containing_oneof.name if x.containing_oneof else x.name for x in theirs}) > 1:
            names = ", ".join(each.name for each in theirs)
            return f"{above}{choice.name}: expected one of {names}, found that several may be set"
    return None


def _was_met(writer: Descriptor, reader: Descriptor, seen: set[tuple[str, str]]) -> bool:
    """Whether the pair was compared before: the messages of a writer may be recursive."""
    pair = (writer.full_name, reader.full_name)
    met = pair in seen
    seen.add(pair)
    return met


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


def message_loss(writer: Descriptor, reader: Descriptor) -> str:
    """Why some message of the writer's cannot be read as the reader's, or not as it is.

    Empty if all can. Fields that the reader lacks are not compared here: the columns show them.
    """
    if writer.full_name != reader.full_name:
        return f"expected the message {reader.full_name}, found {writer.full_name}"
    return clash(writer, reader) or _loss(writer, reader, "", set()) or ""


def _loss(
    writer: Descriptor, reader: Descriptor, above: str, seen: set[tuple[str, str]]
) -> str | None:
    if _was_met(writer, reader, seen):
        return None
    for field in writer.fields:
        place, other = f"{above}{field.name}", reader.fields_by_number.get(field.number)
        if other is None or other.name.lower() != field.name.lower():
            if found := reader.fields_by_name.get(field.name):
                return f"{place}: expected the number {found.number}, found {field.number}"
        elif found := _lost_values(field, other, place, seen):
            return found
    return None


def _lost_values(
    written: FieldDescriptor, read: FieldDescriptor, place: str, seen: set[tuple[str, str]]
) -> str | None:
    if written.has_presence != read.has_presence:
        told = ["a field whose 0 is as unset", "one that tells them apart"]
        expected, found = told if written.has_presence else told[::-1]
        return f"{place}: expected {expected}, found {found}"
    if written.enum_type is not None and read.enum_type is not None:
        theirs, ours = _names(written.enum_type), _names(read.enum_type)
        gone = [x for x in theirs if theirs[x] != ours.get(x)]
        if gone:
            expected = ours.get(gone[0], "no such number")
            return f"{place}: {gone[0]}: expected {expected}, found {theirs[gone[0]]}"
    if written.message_type is not None and read.message_type is not None:
        return _loss(written.message_type, read.message_type, f"{place}.", seen)
    return None


def _names(enum: EnumDescriptor) -> Mapping[int, str]:
    """The names by their numbers; of several the first."""
    return {each.number: each.name for each in reversed(enum.values)}
