"""Odd names: every kind that a column may have, and a value under each."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.columns.names import NOT_IN_NAMES, quoted

MARKS = tuple(
    each for each in map(chr, range(0x21, 0x7F)) if not each.isalnum() and each not in NOT_IN_NAMES
)
"""Each character of ASCII that a name may hold, without letters and digits."""
_BETWEEN = ["``", "a``b", "`a`", "a.b.c", "..", "%20", "$.a", "[0]", "\\n", "*.*", "a1b", "1", "a"]
_BEYOND = [
    *("größe", "日本", "émoji😀", "İstanbul", "\u0131rmak", "a\u200db", "e\u0301", "é", "n" * 255),
    *("\u00a0", "\u3000", "\ufeff", "\u2028", "\x01", "\x7f", "\x85"),
]
_WORDS = ["select", "table", "order", "from", "null", "true", "values", "1st", "1e3", "0x1"]
_OTHERS_OWN = [
    *("_metadata", "_change_type", "_commit_version", "_commit_timestamp", "__is_cdc"),
    *("_id", "__op", "__deleted", "_c0", "_deleted", "_op"),
]
_PUBLIC = [
    *("@timestamp", "request-id", "smtp-id", "$schema", "+1", "__utma"),
    *("log.level", "http.status", "userId"),
]
ODD = tuple(
    dict.fromkeys(
        [
            *(*MARKS, *(f"a{each}b" for each in MARKS), *_BETWEEN),
            *(*_BEYOND, *_WORDS, *_OTHERS_OWN, *_PUBLIC),
        ]
    )
)


def schema_of(names: Iterable[str], kind: str = "STRING") -> str:
    """A spec's `schema` of columns with these names."""
    return ", ".join(f"{quoted(each)} {kind}" for each in names)


def values_of(names: Iterable[str], record: int = 1) -> dict[str, str]:
    """A text under each name; no two are alike, within a record or between two."""
    return {each: f"{record} {at} {each}" for at, each in enumerate(names)}
