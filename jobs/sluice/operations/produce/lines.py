"""Lines as records: which key and value each line becomes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sluice.errors import SettingsError, did_you_mean

_MOST_SHOWN = 60


@dataclass(frozen=True)
class LineRecord:
    """A record, and the number of its line, counted from 1."""

    number: int
    key: bytes | None
    value: bytes


def records_of(
    lines: Iterable[bytes], key_field: str | None = None, raw: bool = False
) -> Iterator[LineRecord]:
    """One record for each line: its text as it stands, without the line's end.

    Each line must be a JSON value, and lines of nothing but spaces are left out; with `raw` every
    line is taken. `key_field` is the field of each object whose value becomes the key.
    Raises SettingsError, which names the line.
    """
    for number, line in enumerate(lines, 1):
        value = line.removesuffix(b"\n").removesuffix(b"\r")
        if raw:
            yield LineRecord(number, None, value)
        elif value.strip():
            yield LineRecord(number, _key(number, _parsed(number, value), key_field), value)


def _parsed(number: int, value: bytes) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as problem:
        raise SettingsError(
            f"line {number}: expected a JSON value on one line, found {_shown(value)}: {problem}."
            " Correct it, or use --raw, which takes every line as it is."
        ) from None


def _key(number: int, found: object, field: str | None) -> bytes | None:
    """The field's value: a text as it is, anything else as JSON; null gives no key."""
    if field is None:
        return None
    if not isinstance(found, dict):
        raise SettingsError(
            f"line {number}: expected a JSON object, whose field {field!r} is the key, found"
            f" {type(found).__name__}."
        )
    if field not in found:
        raise SettingsError(
            f"line {number}: expected the field {field!r} for the key, found"
            f" {', '.join(found) or 'no field'}{did_you_mean(field, found)}."
        )
    value = found[field]
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise SettingsError(
            f"line {number}: expected a text in the field {field!r}, which is the key, found half"
            " of a surrogate pair. Correct it."
        ) from None


def _shown(value: bytes) -> str:
    text = value.decode(errors="replace")
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…")
