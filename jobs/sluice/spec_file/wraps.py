"""Wraps: what is around a record's payload, and which goes with which format. Pure.

A compression is outermost; a frame is within it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

Frame = Literal["none", "confluent", "delimited", "single_object", "container", "glue"]
Compression = Literal["gzip", "zstd", "snappy", "lz4", "zlib"]

_ALONE: Mapping[str, tuple[Frame, ...]] = {
    "json": ("none", "confluent", "glue"),
    "avro": ("none", "confluent", "single_object", "container", "glue"),
    "protobuf": ("none", "confluent", "delimited", "glue"),
}
"""The frames by the format's type, where no registry is asked; the first is the default."""
_REGISTERED: tuple[Frame, ...] = ("confluent",)


def fitting(frame: Frame | None, kind: str, registered: bool, named: bool) -> Frame | None:
    """The frame, or None for the default. Raises ValueError for one that the format has not.

    `named`: whether an envelope says that Connect names what the numbers of its records mean.
    """
    if named and frame == "container":
        raise ValueError(
            "found container with envelope; expected another frame, or none. The names of types in"
            " a container file's own schema are not read, and Connect writes no such files"
        )
    allowed = _REGISTERED if registered else _ALONE[kind]
    if frame is None or frame == allowed[0]:
        return None
    if frame in allowed:
        return frame
    if not registered:
        raise ValueError(f"expected one of {', '.join(allowed)} with type: {kind}. {_ways(frame)}")
    raise ValueError(
        "expected confluent with registry, as records name their schemas in Confluent's frame."
        f" {_without_registry(frame, kind)}"
    )


def _ways(frame: Frame) -> str:
    types = [kind for kind, frames in _ALONE.items() if frame in frames]
    return f"Write one of these, or leave frame out; {frame} goes with type: {' or '.join(types)}"


def _without_registry(frame: Frame, kind: str) -> str:
    if frame in _ALONE[kind]:
        return f"Leave frame out; or write schema_file in place of registry for frame: {frame}"
    return f"Leave frame out: type: {kind} has no frame: {frame}"


def _known(written: object) -> object:
    known = get_args(Compression)
    if written is None or written in known:
        return written
    raise ValueError(
        f"expected one of {', '.join(known)}. No other is read: let the producer write one of"
        " these, or land the bytes with type: raw"
    )


CompressionKey = Annotated[Compression | None, BeforeValidator(_known)]
