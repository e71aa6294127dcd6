"""Telling: a step's reports about itself, such as a summary, a metric or lineage."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deciding_nothing(log: logging.Logger, text: str, *arguments: object) -> Iterator[None]:
    """The one place where a step goes on after any error in the block: it is a warning then.

    The text says what is not reported; the error follows it.
    """
    try:
        yield
    except Exception as problem:
        log.warning(f"{text}: %s: %s", *arguments, type(problem).__name__, problem)
