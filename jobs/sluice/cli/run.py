"""`sluice run`: plan, ingest and settle in one process, until caught up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from sluice.cli.opening import here, opened
from sluice.cli.output import arguments, print_json
from sluice.pipeline import Pipeline, Settlement, Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command()
@arguments
def run(pipeline: str, as_json: bool) -> None:
    """Bring the table of PIPELINE up to date. Safe to stop and to repeat at any moment."""
    opening, origin = opened(pipeline), here()
    spark = _Spark(opening)
    events = []
    try:
        while True:
            work = opening.plan(origin.run_id, origin.actor)
            if work:
                _say(as_json, f"{pipeline}: landing {work}")
                started = time.monotonic()
                spark.ingest(work)
                _say(as_json, f"{pipeline}: landed in {time.monotonic() - started:.1f} s")
            settled = opening.settle(origin.run_id, origin.actor)
            events += settled.events
            _report(as_json, pipeline, settled)
            if not work:
                break
    finally:
        spark.stop()
    if as_json:
        print_json({"pipeline": pipeline, "settled": events})
    elif not events:
        click.echo(f"{pipeline}: nothing new")


class _Spark:
    """Spark, started when there is something to read and not before."""

    def __init__(self, opening: Pipeline) -> None:
        self._opening = opening
        self._session: SparkSession | None = None

    def ingest(self, work: Work) -> None:
        from sluice.lake.session import open_session
        from sluice.lake.spark_lake import SparkLake

        parts = self._opening.parts
        self._session = self._session or open_session(parts.spec)
        lake = SparkLake(self._session, parts.client, parts.spec, parts.tables)
        self._opening.ingest(work, lake)

    def stop(self) -> None:
        if self._session is not None:
            from sluice.lake.session import close_session

            close_session(self._session)


def _report(as_json: bool, pipeline: str, settled: Settlement) -> None:
    for receipt in settled.receipts:
        _say(
            as_json,
            f"{pipeline}: {receipt.batch}: {receipt.records:,} records, {receipt.quarantined:,}"
            f" quarantined, {receipt.gaps:,} gaps, table version {receipt.data_version}",
        )


def _say(as_json: bool, line: str) -> None:
    click.echo(line, err=as_json)
