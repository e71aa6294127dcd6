"""Job errors: how a job under spark-submit reports to its task what went wrong.

One line on stderr, `SLUICE-ERROR kind: text`, and an exit code: 1 failed, worth a retry; 3 failed,
the operator must decide.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sluice.errors import SluiceError

FAILED, REFUSED = 1, 3
_MARK = "SLUICE-ERROR"
_LINE = re.compile(rf"{_MARK} (?P<kind>\w+): (?P<text>.*)")


@contextmanager
def reporting_errors(name: str) -> Iterator[None]:
    """Log to stderr; any failure becomes one line that the task finds, and an exit code."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    log = logging.getLogger(name)
    try:
        yield
    except SluiceError as problem:
        log.error("%s %s: %s", _MARK, type(problem).__name__, _one_line(problem))
        sys.exit(FAILED if problem.retryable else REFUSED)
    except Exception as problem:
        log.exception("%s %s: %s", _MARK, type(problem).__name__, _one_line(problem))
        sys.exit(FAILED)


def _one_line(problem: Exception) -> str:
    return " | ".join(filter(None, str(problem).splitlines()))


def reported_error(line: str) -> str | None:
    """What a line of the job's output reports, such as `DataLost: …`; None for any other line."""
    found = _LINE.search(line)
    return f"{found['kind']}: {found['text']}" if found else None
