"""Records: bytes that could not be decoded, as people and programs can read them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from sluice.cli.output import moment_document

if TYPE_CHECKING:
    from sluice.broker.port import Sample
    from sluice.progress.quarantined_records import Record

_SHOWN = 80


def excerpt(value: bytes | None, most: int = _SHOWN) -> str:
    """The beginning of a value: text where it is UTF-8, else hexadecimal digits."""
    if value is None:
        return "null"
    text = _text(value)
    # Characters that would move a terminal's cursor are written as escapes.
    shown = value.hex() if text is None else "".join(map(_printable, text[: most + 1]))
    return shown if len(shown) <= most else f"{shown[:most]}… ({len(value):,} bytes)"


def undecoded(record: Record) -> str:
    """The beginning of the value; and of the key, where the error is of it, or of a field `key`."""
    key = f" (key {excerpt(record.key)})" if record.row.error.startswith("key: ") else ""
    return f"{excerpt(record.value)}{key}"


def document_of(record: Record) -> dict[str, object]:
    """The whole record as JSON-able values: bytes in base64, a UTF-8 value as text, too."""
    row = record.row
    return {
        "topic": row.partition.topic,
        "topic_id": row.topic_id,
        "partition": row.partition.partition,
        "offset": row.offset,
        "batch": row.batch,
        "state": row.state.value,
        "timestamp": moment_document(record.timestamp),
        "quarantined_at": row.quarantined_at.isoformat(),
        "error": row.error,
        "key_base64": _base64(record.key),
        "headers": [{"key": key, "value_base64": _base64(each)} for key, each in record.headers],
        "value": None if record.value is None else _text(record.value),
        "value_base64": _base64(record.value),
    }


def sample_document(sample: Sample) -> dict[str, object]:
    """The whole record as JSON-able values: bytes in base64, UTF-8 as text, too."""
    return {
        "topic": sample.partition.topic,
        "partition": sample.partition.partition,
        "offset": sample.offset,
        "timestamp": moment_document(sample.timestamp),
        "key": None if sample.key is None else _text(sample.key),
        "key_base64": _base64(sample.key),
        "value": None if sample.value is None else _text(sample.value),
        "value_base64": _base64(sample.value),
    }


def _text(value: bytes) -> str | None:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def _base64(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode("ascii")
