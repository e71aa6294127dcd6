"""All pipelines at a glance in the OpenMetrics text format, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from sluice.operations.overview.gauges import GAUGES, samples

if TYPE_CHECKING:
    from sluice.operations.overview.overview import Overview


class _Overviews(Collector):
    """Gauges of pipelines that were read before."""

    def __init__(self, found: Sequence[Overview]) -> None:
        self._found = found

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Every gauge, with a value for each pipeline of which it is known."""
        families = {
            gauge.name: GaugeMetricFamily(
                f"sluice_{gauge.name}",
                gauge.text,
                labels=["pipeline", *filter(None, [gauge.label])],
            )
            for gauge in GAUGES
        }
        for sample in (each for one in self._found for each in samples(one)):
            labels = [sample.pipeline, *sample.labels.values()]
            families[sample.gauge.name].add_metric(labels, sample.value)
        return families.values()


def print_openmetrics(found: Sequence[Overview]) -> None:
    """What an agent reads from a file, or a scraper from a page."""
    registry = CollectorRegistry()
    registry.register(_Overviews(found))
    text = generate_latest(registry)  # type: ignore[no-untyped-call]
    click.echo(text.decode(), nl=False)
