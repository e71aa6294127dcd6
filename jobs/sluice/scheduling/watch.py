"""The watch: reads all pipelines, tells their metrics, and fails where somebody must be called."""

from __future__ import annotations

import logging

from airflow.sdk.exceptions import AirflowFailException

from sluice.scheduling.deployment import deployed_fleet
from sluice.scheduling.metrics import tell_overview
from sluice.scheduling.tasks import failing_for_good

log = logging.getLogger(__name__)


def watch() -> None:
    """Raises AirflowFailException with every limit of `alerts` that is exceeded, worst first."""
    from sluice.operations.overview.breaches import breaches
    from sluice.operations.overview.overview import totals, worst_first

    with failing_for_good():
        found = worst_first(deployed_fleet().read())
    exceeded = []
    for each in found:
        tell_overview(each)
        if each.reason:
            log.info("%s: %s: %s", each.spec.pipeline, each.condition, each.reason)
        exceeded += [f"{each.spec.pipeline}: {breach}" for breach in breaches(each)]
    log.info("%s", ", ".join(f"{count} {condition}" for condition, count in totals(found).items()))
    if exceeded:
        raise AirflowFailException("\n".join(exceeded))
