"""Retries: a step that conflicts with another process's commit is repeated on the new state."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from tenacity import (
    RetryError,
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    stop_after_attempt,
)

from sluice.clock import LongerAtRandom
from sluice.errors import CommitConflict, CommitFailed
from sluice.progress.resources import PipelineResources

_ATTEMPTS = 10
# A commit of Spark's, while other processes commit to the table.
_OF_SPARK = 8
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


def while_crossed(
    resources: PipelineResources, crossed: type[Exception], log: logging.Logger
) -> Retrying:
    """Repeats a step of Spark's while it raises this; its last one is raised, each other logged."""
    return Retrying(
        retry=retry_if_exception_type(crossed),
        sleep=resources.clock.sleep,
        wait=LongerAtRandom(resources.chance, first=1, longest=20),
        stop=stop_after_attempt(_OF_SPARK),
        before_sleep=before_sleep_log(log, logging.WARNING),
        reraise=True,
    )
