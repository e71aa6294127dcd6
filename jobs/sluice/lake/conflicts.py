"""Conflicts: a commit that Delta refuses because somebody else's came in between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sluice.landing import Conflicted

# The error conditions of Delta's DeltaConcurrentModificationException and what derives from it.
_CONFLICT = re.compile(r"\[(DELTA_(?:CONCURRENT_\w+|METADATA_CHANGED|PROTOCOL_CHANGED))[\w.]*\]")


@contextmanager
def naming_conflicts() -> Iterator[None]:
    """Turn Delta's refusal into Conflicted; every other failure stays what it is."""
    try:
        yield
    except Exception as problem:
        found = _CONFLICT.search(str(problem))
        if found:
            raise Conflicted(f"another commit came in between ({found[1]})") from problem
        raise
