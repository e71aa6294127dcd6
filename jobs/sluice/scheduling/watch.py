"""The watch: reads all pipelines, sends their metrics, and fails if a person must be called."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowFailException

from sluice.operations.run_summary import brief_summary
from sluice.scheduling.deployment import deployed_fleet
from sluice.scheduling.metrics import tell_overview, tell_refused
from sluice.scheduling.run_notes import tell
from sluice.scheduling.tasks import failing_for_good

if TYPE_CHECKING:
    from sluice.operations.overview.overview import Overview

log = logging.getLogger(__name__)


def watch_in(specs: Path) -> Callable[..., None]:
    """The body of `watch`, for the pipelines whose specs are in this folder."""

    def watch(ti: Any = None) -> None:
        """Look at all pipelines; fail if a person must be called."""
        _watch(specs, ti)

    return watch


def _watch(specs: Path, ti: Any) -> None:
    """Raises AirflowFailException with everything to call a person about, the worst first.

    That is every refused spec, every exceeded limit of `alerts`, and each pipeline with `alerts`
    that is stopped.
    """
    from sluice.operations.overview.overview import reasons, totals, worst_first

    with failing_for_good(ti):
        fleet = deployed_fleet(specs)
        found = worst_first(fleet.read())
    calls = [f"refused: {problem}" for problem in fleet.refused.values()]
    calls += calls_of(found)
    for line in reasons(found):
        log.info("%s", line)
    states = ", ".join(f"{count} {condition}" for condition, count in totals(found).items())
    log.info("%s", states)
    tell(ti, brief_summary([states, *(each.splitlines()[0] for each in calls)]))
    tell_refused(len(fleet.refused))
    for each in found:
        tell_overview(each)
    if calls:
        raise AirflowFailException("\n".join(calls))


def calls_of(found: Sequence[Overview]) -> Iterator[str]:
    """What to call a person about in pipelines with `alerts`, with each cause once."""
    from sluice.operations.overview.breaches import breaches
    from sluice.operations.overview.overview import Condition, reasons

    called = []
    for each in found:
        exceeded = breaches(each)
        yield from (f"{each.spec.pipeline}: {breach}" for breach in exceeded)
        if exceeded or (each.spec.alerts.limits and each.condition is Condition.STOPPED):
            called.append(each)
    yield from reasons(called)
