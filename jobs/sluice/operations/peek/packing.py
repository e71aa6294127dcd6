"""Packing: the compression or frame that most values of a topic begin with. Pure.

A look without a JVM: what takes them off the records is in jobs/jvm/frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import cramjam

from sluice.offsets.quantities import format_count
from sluice.schemas.value_kinds import kind_of

# What decodes into a buffer, and fails where that is too small.
_Into = Callable[[bytes, bytearray], int]
_COMPRESSIONS: Mapping[str, tuple[str, _Into]] = {
    "gzip": ("gzip", cramjam.gzip.decompress_into),
    "zlib": ("zlib", cramjam.zlib.decompress_into),
    "zstd": ("zstd", cramjam.zstd.decompress_into),
    "an LZ4 frame": ("lz4", cramjam.lz4.decompress_into),
    "framed Snappy": ("snappy", cramjam.snappy.decompress_into),
}
_FRAMES: Mapping[str, tuple[str, str]] = {
    "an Avro container file": ("avro", "container"),
    "an Avro single object": ("avro", "single_object"),
    "AWS Glue's frame": ("avro", "glue"),
}
_ROOM = 4 << 20


@dataclass(frozen=True)
class Unpacked:
    """Values without the compression that most of them have; empty where there is none."""

    values: Mapping[str, bytes | None]
    compression: str = ""
    broken: Mapping[str, str] = field(default_factory=dict)
    """Why there is nothing to see in the others."""


def unpacked(values: Mapping[str, bytes | None]) -> Unpacked:
    """The values, by where their records are, without their compression."""
    kind, _ = _most(values)
    if kind not in _COMPRESSIONS:
        return Unpacked(values)
    name, decode = _COMPRESSIONS[kind]
    found, broken = dict[str, bytes | None](), dict[str, str]()
    room = bytearray(_ROOM)
    for where, value in values.items():
        found[where] = value
        if value is None:
            continue
        if kind_of(value) != kind:
            broken[where] = f"not {name}"
            continue
        try:
            found[where] = bytes(room[: decode(value, room)])
        except cramjam.DecompressionError as problem:
            broken[where] = f"not {name}, or too large to look into: {problem}"
    return Unpacked(found, name, broken)


def told_frame(values: Mapping[str, bytes | None]) -> str:
    """Which frame most values begin with, and the keys that read it; empty if none."""
    kind, count = _most(values)
    if kind not in _FRAMES:
        return ""
    form, frame = _FRAMES[kind]
    others = " (or json, protobuf)" if frame == "glue" else ""
    total = format_count(sum(each is not None for each in values.values()), "value")
    return (
        f"{count:,} of {total} begin like {kind}. Name their schema, such as format:"
        f" {{type: {form}, schema_file: name.avsc, frame: {frame}}}{others}:"
        " docs/formats.md#frames-and-compression"
    )


def _most(values: Mapping[str, bytes | None]) -> tuple[str, int]:
    """The kind of more than half of the values, and of how many."""
    kinds = Counter(kind_of(each) for each in values.values() if each is not None)
    for kind, count in kinds.most_common(1):
        if kind and 2 * count > kinds.total():
            return kind, count
    return "", 0
