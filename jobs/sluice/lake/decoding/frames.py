"""Frames: how a record names the schema that it was written with (Confluent's wire format).

Either the bytes begin with a zero and the schema's id (4 bytes, big-endian), or a header
`__value_schema_id`, for keys `__key_schema_id`, holds the same, or a one and the schema's GUID
(16 bytes); then all the bytes are the record's own. For Protobuf the message's place in the schema
follows the id or GUID (jobs/jvm/frames/ProtobufFrame.scala).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pyspark.sql import Column
from pyspark.sql import functions as F

from sluice.schemas.registered import Kind, RegisteredSchema
from sluice.spec_file.formats import Source

# What an error of a record begins with whose writer's schema is not known yet; its key follows.
UNKNOWN_SCHEMA = "no such schema in the registry:"
NO_FRAME = "no schema id: expected the byte 0 and an id, or a header"


@dataclass(frozen=True)
class Frame:
    """The schema key (STRING, null without a frame) and the bytes after the frame.

    `mark` is what names the schema, as it stands there: quicker to compare than the key. `header`
    is null where no header names it.
    """

    key: Column
    body: Column
    mark: Column
    header: Column


def frame_of(source: Source, header: Column | None = None) -> Frame:
    """The frame of a record's value or key; key and body are null where the source is.

    `header` is what `header_of` gives, where the records have it as a column.
    """
    data = F.col(source)
    header = header_of(source) if header is None else header
    in_bytes = (F.octet_length(data) >= 5) & (F.substring(data, 1, 1) == F.lit(b"\0"))
    in_header = F.coalesce(
        F.when((F.octet_length(header) >= 5) & _begins(header, b"\0"), _id(header)),
        F.when((F.octet_length(header) >= 17) & _begins(header, b"\1"), _guid(header)),
    )
    key = F.when(header.isNotNull(), in_header).when(in_bytes, _id(data))
    body = F.when(header.isNotNull(), data).otherwise(F.substring(data, 6, 2**31 - 1))
    after = F.when(_begins(header, b"\0"), 6).otherwise(18)
    in_front = F.substring(header, F.lit(1), after - 1)
    mark = F.when(header.isNotNull(), in_front).otherwise(F.substring(data, 1, 5))
    return Frame(F.when(data.isNotNull(), key), body, mark, header)


def mark_of(key: str) -> bytes:
    """How records name the schema of a key."""
    if key.isdecimal():
        return b"\0" + int(key).to_bytes(4, "big")
    return b"\1" + uuid.UUID(key).bytes


def frame_refusal(
    frame: Frame,
    source: Source,
    writers: Mapping[str, RegisteredSchema],
    kind: Kind,
    others: Mapping[str, str] = MappingProxyType({}),
) -> Column:
    """Why a record cannot be decoded by these writers' schemas; null where one of them is its own.

    Null as well where the source is null. `others` says of writers' keys what else is in the way.
    """
    refused = dict(others) | {
        key: f"expected {kind}, found {each.kind}"
        for key, each in writers.items()
        if each.kind != kind
    }
    ours = sorted(key for key in writers if key not in refused)
    other = F.coalesce(
        *(
            F.when(frame.key == key, F.lit(f"schema {key}: {refused[key]}"))
            for key in sorted(refused)
        ),
        F.concat(F.lit(f"{UNKNOWN_SCHEMA} "), frame.key),
    )
    found = F.concat(F.lit(f"{NO_FRAME}, found "), _instead(F.col(source), frame.header))
    known = frame.key.isin(*ours) if ours else F.lit(False)
    return (
        F.when(F.col(source).isNull(), F.lit(None).cast("string"))
        .when(frame.key.isNull(), found)
        .when(~known, other)
    )


def _instead(data: Column, header: Column) -> Column:
    """What stands where a schema's id was expected."""
    return F.coalesce(
        F.concat(F.lit("a header of 0x"), _first_bytes(header)),
        F.when(F.octet_length(data) == 0, F.lit("no bytes")),
        F.concat(F.lit("0x"), _first_bytes(data)),
    )


def _first_bytes(data: Column) -> Column:
    return F.lower(F.hex(F.substring(data, 1, 5)))


def header_of(source: Source) -> Column:
    """The last header of the name; null without one."""
    names, values = F.reverse(F.col("headers.key")), F.reverse(F.col("headers.value"))
    return F.get(values, (F.array_position(names, f"__{source}_schema_id") - 1).cast("int"))


def _begins(data: Column, byte: bytes) -> Column:
    return F.substring(data, 1, 1) == F.lit(byte)


def _id(data: Column) -> Column:
    return F.conv(F.hex(F.substring(data, 2, 4)), 16, 10)


def _guid(data: Column) -> Column:
    return hyphenated(F.lower(F.hex(F.substring(data, 2, 16))))


def hyphenated(digits: Column) -> Column:
    """The 32 hexadecimal digits of a UUID as it is written."""
    return F.regexp_replace(digits, "^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5")
