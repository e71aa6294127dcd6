"""Leftovers: what remains of a table whose creation was cut short, before its first commit."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def clear_leftovers(uri: str) -> None:
    """Remove the empty folders at a local path, and what a log store was writing when it died.

    Spark takes any folder that is not empty for the table, and would never create it. Nothing that
    belongs to a table is removed: whoever is creating one at this moment tries again. An object
    store has no folders.
    """
    if "://" in uri:
        return
    for unfinished in Path(uri).glob("_delta_log/.*.tmp*"):
        unfinished.unlink(missing_ok=True)
    for folder, _, _ in os.walk(uri, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
