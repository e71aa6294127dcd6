"""Reading tasks: into how many tasks Spark cuts what a batch reads of Kafka. Pure.

By itself Spark reads each partition in one task. A partition that holds most of a batch would then
keep one core busy, and the others idle.
"""

from __future__ import annotations

from collections.abc import Iterable

# For fewer offsets, a consumer and a file of their own cost more than they save (decision 46).
LEAST = 50_000


def may_cut(spans: Iterable[int]) -> bool:
    """Whether any number of cores would cut one of these spans of offsets."""
    return max(spans, default=0) > LEAST


def most_offsets(spans: Iterable[int], cores: int) -> int | None:
    """How many offsets a task may read at most; None: each partition is one task.

    `spans` are the offsets to read of each partition. A single partition becomes as many tasks as
    there are cores. One beside others is cut only if the batch takes less time then, in whatever
    order the tasks run: n cores need at most an n-th of everything and, for the task that ends
    last, one task more (Graham, Bounds on multiprocessing timing anomalies, 1969).
    """
    found = [each for each in spans if each]
    share = _ceiling(sum(found), cores)
    if len(found) == 1:
        return _if_above(found, _at_least(share), 0)
    return _if_above(found, _at_least(_ceiling(share, 2)), share)


def _if_above(spans: list[int], most: int, others: int) -> int | None:
    return most if max(spans, default=0) > others + most else None


def _at_least(offsets: int) -> int:
    return max(offsets, LEAST)


def _ceiling(offsets: int, parts: int) -> int:
    return -(-offsets // parts)
