"""Submitted: how a job under spark-submit says what went wrong, and with which code it ends.

Exit code 1: failed, worth a retry; 3: failed, and only a person's decision helps.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sluice.errors import SluiceError


@contextmanager
def submitted(name: str) -> Iterator[None]:
    """Log to stderr; whatever fails becomes one line that the task finds, and an exit code."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    log = logging.getLogger(name)
    try:
        yield
    except SluiceError as problem:
        log.error("SLUICE-ERROR %s: %s", type(problem).__name__, problem)
        sys.exit(1 if problem.retryable else 3)
    except Exception as problem:
        log.exception("SLUICE-ERROR %s: %s", type(problem).__name__, problem)
        sys.exit(1)
