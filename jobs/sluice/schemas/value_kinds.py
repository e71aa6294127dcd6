"""Value kinds: what a value's first bytes are, where they explain why it is not decoded. Pure.

In the JVM: jobs/jvm/errors/ValueKind.scala. tests/worlds/named_values.py has the cases of both.
"""

from __future__ import annotations

_BEGINNINGS = {
    b"\x1f\x8b\x08": "gzip",
    b"\x78\x9c": "zlib",
    b"\x78\xda": "zlib",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "an LZ4 frame",
    b"\xff\x06\x00\x00sNaPpY": "framed Snappy",
    b"\x82SNAPPY\x00": "framed Snappy",
    b"Obj\x01": "an Avro container file",
    b"\xef\xbb\xbf": "a byte order mark",
}


def kind_of(value: bytes) -> str:
    """A frame, a compression or an encoding of text; empty if it begins like none of these."""
    for first, kind in _BEGINNINGS.items():
        if value.startswith(first):
            return kind
    return "UTF-16 text" if _is_wide(value) else _framed(value)


def _framed(value: bytes) -> str:
    # Registries number from 1 on.
    if len(value) >= 5 and value.startswith(b"\x00\x00") and any(value[1:5]):
        return f"Confluent's frame with schema id {int.from_bytes(value[1:5], 'big')}"
    if len(value) >= 10 and value.startswith(b"\xc3\x01"):
        return "an Avro single object"
    if len(value) >= 18 and value.startswith((b"\x03\x00", b"\x03\x05")):
        return "AWS Glue's frame"
    return ""


def _is_wide(value: bytes) -> bool:
    """Whether it begins with UTF-16's mark and a character of ASCII, or with four of these."""
    marked = value.startswith((b"\xff\xfe", b"\xfe\xff"))
    first = value[2:4] if marked else value[:8]
    return len(first) == (2 if marked else 8) and any(
        not any(first[zero::2]) and all(map(_is_printed, first[1 - zero :: 2])) for zero in (0, 1)
    )


def _is_printed(character: int) -> bool:
    return 0x20 <= character < 0x80 or character in b"\t\n\r"
