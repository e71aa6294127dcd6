"""Retries: a step that other processes may cross is taken again, on what they have left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt

from sluice.errors import CommitConflict, CommitFailed

_ATTEMPTS = 10
_T = TypeVar("_T")


def until_it_lands(step: Callable[[], _T], crossed: str) -> _T:
    """Take a step until no other commit crosses it; each time it reads and decides anew.

    Raises CommitFailed when that happened ten times in a row: `crossed` says by what, and the next
    move.
    """
    again = Retrying(
        retry=retry_if_exception_type(CommitConflict), stop=stop_after_attempt(_ATTEMPTS)
    )
    try:
        return again(step)
    except RetryError as spent:
        cause = spent.last_attempt.exception()
        raise CommitFailed(crossed.format(times=f"{_ATTEMPTS} times in a row")) from cause
