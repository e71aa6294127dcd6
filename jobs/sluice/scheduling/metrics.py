"""Metrics: what the tasks tell the StatsD, DogStatsD or OpenTelemetry of Airflow's configuration.

Without one, nothing is sent. What cannot be sent is a warning. docs/metrics.md lists all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

from airflow.sdk.configuration import conf
from airflow.sdk.observability import stats as _stats

from sluice.telling import deciding_nothing

if TYPE_CHECKING:
    from sluice.offsets.receipts import Receipt
    from sluice.operations.overview.overview import Overview
    from sluice.protocol.settle.write_receipts import Settlement

log = logging.getLogger(__name__)

# In Airflow 3.2 its functions are methods of a class.
stats: Any = _stats if hasattr(_stats, "incr") else _stats.Stats


@dataclass(frozen=True)
class Counter:
    """A name, its help text, and what a receipt adds to it."""

    name: str
    text: str
    added: Callable[[Receipt], int]


COUNTERS = (
    Counter("batches_total", "Batches that got their receipt.", lambda receipt: 1),
    Counter("records_total", "Records in them, in the data table.", lambda each: each.records),
    Counter("quarantined_total", "Records of them, in quarantine.", lambda each: each.quarantined),
    Counter("filtered_total", "Records of other kinds, left out.", lambda each: each.filtered),
    Counter("lost_total", "Offsets of them, lost.", lambda each: each.lost),
)
STEP = "step_seconds"
STEP_TEXT = (
    "Seconds that the last `plan`, `ingest`, `settle` or `refresh` took that had work and"
    " succeeded."
)


@contextmanager
def timed(pipeline: str, step: str) -> Iterator[None]:
    """Tell how long a step took, if it succeeds. Also a decorator."""
    began = monotonic()
    yield
    with _telling(pipeline):
        _gauge(pipeline, STEP, monotonic() - began, {"step": step})


def count_settled(pipeline: str, settled: Settlement) -> None:
    """Send the counts of a settlement; every receipt is written once, so they are sent once."""
    if not settled:
        return
    with _telling(pipeline):
        for counter in COUNTERS:
            name, tags = _told(pipeline, counter.name, {})
            stats.incr(name, sum(map(counter.added, settled.receipts)), tags=tags)


def tell_overview(found: Overview) -> None:
    """Send every known gauge of a pipeline."""
    from sluice.operations.overview.gauges import measurements

    with _telling(found.spec.pipeline):
        for sample in measurements(found):
            _gauge(sample.pipeline, sample.gauge.name, sample.value, sample.labels)


def _telling(pipeline: str) -> AbstractContextManager[None]:
    return deciding_nothing(log, "%s: no metrics are sent", pipeline)


def tell_refused(specs: int) -> None:
    """Send the number of refused specs in the deployment."""
    from sluice.operations.overview.gauges import REFUSED_SPECS

    with deciding_nothing(log, "the number of refused specs is not sent"):
        stats.gauge(f"sluice.{REFUSED_SPECS}", specs)


def _gauge(pipeline: str, metric: str, value: float, labels: Mapping[str, str]) -> None:
    name, tags = _told(pipeline, metric, labels)
    stats.gauge(name, value, tags=tags)


def _told(pipeline: str, metric: str, labels: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The name and the tags of a value.

    Plain StatsD has no tags, and Airflow would drop them: all pipelines would be one series. There
    the pipeline and the label are parts of the name.
    """
    if _has_tags():
        return f"sluice.{metric}", {"pipeline": pipeline, **labels}
    return ".".join(["sluice", pipeline, metric, *labels.values()]), {}


def _has_tags() -> bool:
    """Whether the backend that Airflow chooses keeps tags."""
    section = "metrics"
    plain = conf.getboolean(section, "statsd_on")
    tagged = ("statsd_datadog_enabled", "statsd_influxdb_enabled")
    return not plain or any(conf.getboolean(section, each) for each in tagged)
