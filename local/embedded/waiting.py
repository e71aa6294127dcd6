"""Waiting: a look that is repeated until it finds something."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(
    look: Callable[[], Found | None], what: str, seconds: float = 60, pause: float = 0.05
) -> Found:
    """What `look` finds. Raises TimeoutError if it finds nothing in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(pause)
    return found
