"""Intervals: durations as Delta's table properties have them, such as `interval 7 days`. Pure."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = ("weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds")
_PART = re.compile(rf"'?(\d{{1,9}})'?\s+({'|'.join(unit[:-1] for unit in _UNITS)})s?")
_WHOLE = re.compile(rf"(?:interval\s+)?{_PART.pattern}(?:\s+{_PART.pattern})*")


def read_interval(written: str) -> timedelta | None:
    """How long an interval is; None if the text is not an interval."""
    text = written.strip().lower()
    if not _WHOLE.fullmatch(text):
        return None
    return sum(
        (timedelta(**{f"{unit}s": int(number)}) for number, unit in _PART.findall(text)),
        timedelta(),
    )
