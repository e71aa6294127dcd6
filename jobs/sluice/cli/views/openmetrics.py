"""All pipelines at a glance in the OpenMetrics text format, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from sluice.operations.overview.gauges import (
    GAUGES,
    REFUSED_SPECS,
    REFUSED_SPECS_TEXT,
    measurements,
)

if TYPE_CHECKING:
    from sluice.operations.overview.overview import Overview


class _Overviews(Collector):
    """Gauges of pipelines that were read before, and how many specs were refused."""

    def __init__(self, found: Sequence[Overview], refused: int) -> None:
        self._found, self._refused = found, refused

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Every gauge, with a value for each pipeline whose value is known."""
        families = {
            gauge.name: GaugeMetricFamily(
                f"sluice_{gauge.name}",
                gauge.text,
                labels=["pipeline", *filter(None, [gauge.label])],
            )
            for gauge in GAUGES
        }
        for sample in (each for one in self._found for each in measurements(one)):
            labels = [sample.pipeline, *sample.labels.values()]
            families[sample.gauge.name].add_metric(labels, sample.value)
        refused = GaugeMetricFamily(f"sluice_{REFUSED_SPECS}", REFUSED_SPECS_TEXT, self._refused)
        return [*families.values(), refused]


def print_openmetrics(found: Sequence[Overview], refused: int) -> None:
    """What an agent reads from a file, or a scraper from a page."""
    registry = CollectorRegistry()
    registry.register(_Overviews(found, refused))
    text = generate_latest(registry)  # type: ignore[no-untyped-call]
    click.echo(text.decode(), nl=False)
