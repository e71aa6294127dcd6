"""Retries: a step that conflicts with another process's commit is repeated on the new state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt

from sluice.clock import LongerAtRandom
from sluice.errors import CommitConflict, CommitFailed
from sluice.progress.resources import PipelineResources

_ATTEMPTS = 10
_T = TypeVar("_T")


def until_it_lands(resources: PipelineResources, step: Callable[[], _T], crossed: str) -> _T:
    """Repeat a step until its commit meets no conflict; each time it reads and decides again.

    Raises CommitFailed after ten conflicts in a row: `crossed` says with what, and the next move.
    """
    again = Retrying(
        retry=retry_if_exception_type(CommitConflict),
        sleep=resources.clock.sleep,
        wait=LongerAtRandom(resources.chance, first=0.05, longest=2),
        stop=stop_after_attempt(_ATTEMPTS),
    )
    try:
        return again(step)
    except RetryError as spent:
        cause = spent.last_attempt.exception()
        raise CommitFailed(crossed.format(times=f"{_ATTEMPTS} times in a row")) from cause
