"""Step 4: the state table follows the versions of the data table, one commit for each span.

A commit is based on nothing but the two tables. So the next attempt after a crash reads where the
state stands, and goes on from there: there is no plan. An attempt that comes late looks again,
where the state no longer stands where its span begins. What still commits late is skipped by Delta,
as its transaction version is not above the stored one, or refused at the next look.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import TypeVar

from sluice.errors import StateStopped
from sluice.failpoints import reach
from sluice.lake.port import StateLake
from sluice.progress.resources import PipelineResources
from sluice.protocol.refresh.due_span import DueSpan, due_instead, due_span
from sluice.protocol.refresh.making import (
    FindLake,
    Followed,
    make,
    make_unchanged,
    until_alone,
)

log = logging.getLogger(__name__)

Done = TypeVar("Done")
OpenState = Callable[[], AbstractContextManager[StateLake]]


def refresh(resources: PipelineResources, open_state: OpenState) -> list[Followed]:
    """Bring the state table up to date. Raises as `following`."""
    return list(following(resources, open_state))


def following(resources: PipelineResources, open_state: OpenState) -> Iterator[Followed]:
    """The spans that bring the state table up to date, each as soon as it is followed.

    Spark is opened only where rows may have changed. Raises StateRefused, StateStopped,
    TableRefused, SparkFailed or CommitFailed; the data table is as it was.
    """
    if resources.spec.state is None:
        return
    with opened_once(open_state) as lake:
        attempt = partial(_follow, resources, lake)
        while (followed := until_alone(resources, attempt)) is not None:
            log.info("%s: state: %s", resources.spec.pipeline, followed)
            yield followed


def refresh_beside(resources: PipelineResources, open_state: OpenState) -> None:
    """Follow the spans of as many rows as a batch may have, while receipts wait for this.

    The first of more is left to `refresh`, for which nothing waits. Raises as `following`.
    """
    if resources.spec.state is None:
        return
    with opened_once(open_state) as lake:
        while until_alone(resources, partial(_follow_short, resources, lake)):
            pass


@contextmanager
def opened_once(open_state: OpenState) -> Iterator[FindLake]:
    """What writes the state table, opened when it is first asked for; closed with the block."""
    opened: list[StateLake] = []
    with ExitStack() as at_the_end:

        def lake() -> StateLake:
            if not opened:
                opened.append(at_the_end.enter_context(open_state()))
            return opened[0]

        yield lake


def left_to_spark(resources: PipelineResources) -> DueSpan | None:
    """Follow what changes no row; then the span that needs Spark, None where nothing is left.

    Takes milliseconds, no JVM. Raises StateRefused, TableRefused or CommitFailed.
    """
    attempt = partial(_follow_unchanged, resources)
    while (due := until_alone(resources, attempt)) is not None and not due.needs_spark:
        pass
    return due


def _follow_unchanged(resources: PipelineResources) -> DueSpan | None:
    """The due span; it is followed if that needs no Spark."""
    due = due_span(resources)
    if due is not None and not due.needs_spark:
        log.info("%s: state: %s", resources.spec.pipeline, make_unchanged(resources, due))
    return due


def _follow_short(resources: PipelineResources, lake: FindLake) -> Followed | None:
    due = due_span(resources)
    if due is None or _is_long(resources, due):
        return None
    reach("state span known")
    return make(resources, due, lake)


def _follow(resources: PipelineResources, lake: FindLake) -> Followed | None:
    due = due_span(resources)
    if due is None:
        return None
    reach("state span known")
    return past_stops(resources, due, lambda each: make(resources, each, lake))


def _is_long(resources: PipelineResources, due: DueSpan) -> bool:
    """Whether it takes a data table of more rows than a span may have."""
    if due.span.kind != "everything":
        return False
    rows = due.standing.data.size.rows
    return rows is None or rows > resources.spec.max_records_per_batch


def past_stops(resources: PipelineResources, due: DueSpan, do: Callable[[DueSpan], Done]) -> Done:
    """What this does with the span; with the whole data table where rows have gone since.

    A person who deletes the rows that stop the state has not changed the versions before. Raises
    StateStopped where both stop it, or none has gone.
    """
    try:
        return do(due)
    except StateStopped as problem:
        instead = due_instead(resources, due)
        if instead is None:
            raise
        log.info("%s; rows have gone since: computing all of it", problem)
    return do(instead)
