"""What is not promised: situations in which some findings are no fault, each with its sentence.

Each sentence stands in docs/reliability.md, under "What is not promised".
"""

from __future__ import annotations

from dataclasses import dataclass

_TABLES_DIFFER = ("wrong value", "missing", "phantom", "lost", "verify", "a row is gone", "twice")


@dataclass(frozen=True)
class NotPromised:
    """A situation by its name, the kinds of findings that it excuses, and where that is said."""

    name: str
    kinds: tuple[str, ...]
    sentence: str


NOT_PROMISED = {
    each.name: each
    for each in (
        NotPromised(
            "a replaced log that nothing tells",
            _TABLES_DIFFER,
            "A log replaced by another copy** is recognised by the record before the cursor. On a"
            " compacted topic, and below the log start, it is not recognised.",
        ),
    )
}
