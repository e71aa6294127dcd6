"""Corpora: records of one format, good ones and odd ones, and what each of them holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Decoded = dict[str, Any] | None


@dataclass(frozen=True)
class Corpus:
    """Records of one format.

    `one` makes a good record of a number; `odd` are others, each with its error, or None where it
    is decodable; `decode` says what any record holds, without the product: None if nothing.
    """

    form: Mapping[str, str]
    one: Callable[[int], bytes]
    decode: Callable[[bytes], Decoded]
    odd: Mapping[bytes, str | None] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)


def _of_raw(value: bytes) -> Decoded:
    return {"value": value}


RAW = Corpus({"type": "raw"}, lambda number: b"record %d" % number, _of_raw)
