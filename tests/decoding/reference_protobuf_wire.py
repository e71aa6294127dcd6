"""Protobuf's wire format, walked by hand: numbers that their field is too small for.

Every parser cuts them to 32 bits, and says nothing.
"""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, FieldDescriptor

_F = FieldDescriptor
_SIGNED = {_F.TYPE_INT32, _F.TYPE_ENUM}
_UNSIGNED = {_F.TYPE_UINT32, _F.TYPE_SINT32}
_VARINTS = {
    *(_F.TYPE_INT64, _F.TYPE_UINT64, _F.TYPE_SINT64, _F.TYPE_BOOL),
    *_SIGNED,
    *_UNSIGNED,
}


class TooWide(Exception):
    pass


def require_fitting(data: bytes, message: Descriptor) -> None:
    """Raises TooWide for a number of more than 32 bits in a field of 32; `data` was parsed."""
    _walk(memoryview(data), 0, message, None)


def _walk(data: memoryview, at: int, message: Descriptor | None, group: int | None) -> int:
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        field = message.fields_by_number.get(number) if message else None
        match wire:
            case 0:
                value, at = _varint(data, at)
                _require(field, value)
            case 1:
                at += 8
            case 2:
                length, at = _varint(data, at)
                _delimited(data[at : at + length], field)
                at += length
            case 3:
                group_of = field if field is not None and field.type == _F.TYPE_GROUP else None
                at = _walk(data, at, group_of.message_type if group_of else None, number)
            case 4 if number == group:
                return at
            case 5:
                at += 4
    return at


def _delimited(data: memoryview, field: FieldDescriptor | None) -> None:
    if field is not None and field.type == _F.TYPE_MESSAGE:
        _walk(data, 0, field.message_type, None)
    elif field is not None and field.is_repeated and field.type in _VARINTS:
        at = 0
        while at < len(data):
            value, at = _varint(data, at)
            _require(field, value)


def _require(field: FieldDescriptor | None, value: int) -> None:
    if field is None:
        return
    signed = value - 2**64 if value >= 2**63 else value
    too_wide = field.type in _SIGNED and not -(2**31) <= signed < 2**31
    if too_wide or (field.type in _UNSIGNED and value >= 2**32):
        raise TooWide(f"expected 32 bits in {field.name}, found {value}")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return found & (2**64 - 1), at
