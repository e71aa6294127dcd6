"""The reference decoder of Protobuf: the parser that C and Python have, and a row made in Python.

What the parser would pass over in silence is an error here. Maps are read as the lists of entries
that they are on the wire: of an entry that it does not understand, it keeps what it likes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from sluice.schemas.protobuf.columns import (
    DURATION_NAME,
    JSON_NAMES,
    TIMESTAMP_NAME,
    WRAPPER_NAMES,
)

from tests.decoding.reference_protobuf_scalars import (
    Misfit,
    duration_value,
    enum_value,
    json_value,
    not_text,
    require_nothing_passed_over,
    text_value,
    timestamp_value,
)
from tests.decoding.reference_protobuf_wire import TooWide, require_fitting

Row = tuple[Any, ...]
Read = Callable[[Any], Any]


def message_reader(message: Descriptor) -> Callable[[bytes], Row | str]:
    """From the bytes of a message: its fields as a row, or why it is undecodable. Never raises."""
    parse, read = GetMessageClass(message).FromString, _row(message)

    def of_bytes(data: bytes) -> Row | str:
        try:
            parsed = parse(data)
            require_fitting(data, message)
            row: Row = read(parsed)
        except DecodeError as problem:
            reason = str(problem).rpartition("': ")[2] or "the wire format is broken"
            return f"not one {message.full_name} message: {reason}"
        except TooWide as problem:
            return f"not one {message.full_name} message: {problem}"
        except Misfit as problem:
            return str(problem)
        return row

    return of_bytes


def _row(message: Descriptor) -> Read:
    """From a parsed message: a tuple of its fields."""
    fields = [(each.name, _field(each)) for each in message.fields]

    def read(found: Message) -> Row:
        require_nothing_passed_over(found)
        values = []
        for name, of in fields:
            try:
                values.append(of(found))
            except Misfit as problem:
                raise problem.below(name) from None
        return tuple(values)

    return read


def _field(field: FieldDescriptor) -> Read:
    """From a parsed message: the field's value, null where it has none."""
    name, get = field.name, attrgetter(field.name)
    if _is_map(field):
        return _map(get, field.message_type)
    of = _value(field)
    if field.is_repeated:
        return _array(get, of)
    if field.is_required:
        return _required(name, get, of)
    if not field.has_presence:
        return get if of is None else lambda message: of(get(message))
    if of is None:
        return lambda message: get(message) if message.HasField(name) else None
    return lambda message: of(get(message)) if message.HasField(name) else None


def _required(name: str, get: Read, of: Read | None) -> Read:
    """Looked at here: beside a map, Protobuf's own list of what is missing can end the process."""

    def read(message: Message) -> Any:
        if not message.HasField(name):
            raise Misfit("", "a value, as it is required", "none")
        return get(message) if of is None else of(get(message))

    return read


def _array(get: Read, of: Read | None) -> Read:
    if of is None:
        return lambda message: list(get(message))

    def read(message: Message) -> list[Any]:
        found = []
        for place, each in enumerate(get(message)):
            try:
                found.append(of(each))
            except Misfit as problem:
                raise problem.below(f"[{place}]") from None
        return found

    return read


def _map(get: Read, entry: Descriptor) -> Read:
    value = entry.fields_by_name["value"]
    of, get_value = _value(value), attrgetter("value")

    def read(message: Message) -> list[tuple[str, Any]]:
        entries: dict[str, Any] = {}
        for each in get(message):
            name = _key_text(each.key)
            try:
                require_nothing_passed_over(each)
            except Misfit as problem:
                raise problem.below(_place(name)) from None
            entries[name] = each
        found = []
        for name in sorted(entries):
            each = entries[name]
            try:
                found.append((name, get_value(each) if of is None else of(get_value(each))))
            except Misfit as problem:
                raise problem.below(_place(name)) from None
        return found

    return read


def _place(key: str) -> str:
    return f"[{json.dumps(key, ensure_ascii=False)}]"


def _is_map(field: FieldDescriptor) -> bool:
    entry = field.message_type
    named = entry is not None and entry.name == f"{field.camelcase_name[:1].upper()}" + (
        f"{field.camelcase_name[1:]}Entry"
    )
    return named and field.is_repeated


def _key_text(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, bytes):
        raise not_text(key).below("[…]")
    return str(key)


def _value(field: FieldDescriptor) -> Read | None:
    """From one value as the parser gives it: as a row has it. None where that is the same."""
    message = field.message_type
    if message is not None:
        return _message(message)
    if field.enum_type is not None:
        return enum_value(field.enum_type)
    return text_value if field.type == FieldDescriptor.TYPE_STRING else None


def _message(message: Descriptor) -> Read:
    if message.full_name == TIMESTAMP_NAME:
        return timestamp_value
    if message.full_name == DURATION_NAME:
        return duration_value
    if message.full_name in JSON_NAMES:
        return json_value
    row = _row(message)
    if message.full_name in WRAPPER_NAMES:
        return lambda found: row(found)[0]
    return row if message.fields else lambda _: True
