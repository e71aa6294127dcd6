"""An offsets table with many batches: how long it takes to read the history.

    python -m local.bench.offsets [--batches 10000] [--partitions 12]

The product's own code writes plans and receipts; the data table gets transaction versions without
rows. Then `plan` and `status` are timed, against a real broker.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import click
import pyarrow as pa
from confluent_kafka import Producer
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from rich.console import Console
from rich.progress import track
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import receipt_without_gaps
from sluice.pipeline import Pipeline, open_pipeline
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.settings import Settings
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.tables.ownership import OWNER

from local.bench.__main__ import empty
from local.embedded.airflow_processes import ROOT
from local.embedded.broker import Broker
from local.embedded.topics import create_topic

FOLDER = ROOT / "build" / "bench_offsets"
AT_ONCE = 20


@click.command(help=__doc__)
@click.option("--batches", default=10_000, show_default=True, type=click.IntRange(min=AT_ONCE))
@click.option("--partitions", default=12, show_default=True, type=click.IntRange(min=1))
def main(batches: int, partitions: int) -> None:
    """Fill the tables, then time what a run and an operator wait for."""
    console = Console(highlight=False)
    with Broker(empty(FOLDER) / "broker") as broker:
        create_topic(broker.bootstrap, "many", partitions, {})
        pipeline = _pipeline(broker.bootstrap, partitions)
        for first in track(range(0, batches, AT_ONCE), "planning and settling", console=console):
            _produce(broker.bootstrap, partitions, AT_ONCE)
            _run(pipeline, min(AT_ONCE, batches - first))
        _produce(broker.bootstrap, partitions, 1)
        for name, seconds in _timings(pipeline).items():
            console.print(f"{name}: {seconds:.2f} s with {batches:,} batches of {partitions}")


def _pipeline(bootstrap: str, partitions: int) -> Pipeline:
    spec = PipelineSpec.model_validate(
        {
            "version": 1,
            "pipeline": "many",
            "topics": ["many"],
            "table": "many",
            "format": {"type": "raw"},
            "max_records_per_batch": partitions,
            "max_batches_per_run": AT_ONCE,
        }
    )
    settings = Settings(str(FOLDER / "warehouse"), FOLDER)
    return open_pipeline(spec, settings, {"bootstrap.servers": bootstrap})


def _produce(bootstrap: str, partitions: int, each: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(partitions * each):
        producer.produce("many", b"x", partition=number % partitions)
    producer.flush()


def _run(pipeline: Pipeline, batches: int) -> None:
    """Plan for real, fake the commits, and write the receipts one by one, as settle does."""
    resources, now = pipeline.resources, Origin("bench", "bench", datetime.now(UTC))
    work = pipeline.plan("bench", "bench")
    assert len(work.batches) == batches, work
    _commit(resources, work.sequence.app_id, work.batches[-1])
    snapshot = resources.offsets.snapshot()
    for batch in snapshot.history(work.sequence, snapshot.resets()).after(work.batches[0] - 1):
        snapshot.append_receipt(receipt_without_gaps(batch, data_version=batch.number), now)
    resources.offsets.compact_now_and_then()


def _commit(resources: PipelineResources, app_id: str, number: int) -> None:
    uri = resources.tables.data("many")
    DeltaTable.create(
        uri,
        pa.schema([("value", pa.binary())]),
        mode="ignore",
        configuration={OWNER: "many"},
        raise_if_key_not_exists=False,
    )
    nothing = pa.table({"value": pa.array([], pa.binary())})
    versions = CommitProperties(app_transactions=[Transaction(app_id, number)])
    write_deltalake(DeltaTable(uri), nothing, mode="append", commit_properties=versions)


def _timings(pipeline: Pipeline) -> dict[str, float]:
    resources = pipeline.resources
    verbs = {
        "history and cursor (status)": lambda: read_unchecked(resources),
        "plan": lambda: pipeline.plan("bench", "bench"),
        "plan, adopting": lambda: pipeline.plan("bench", "bench"),
    }
    seconds = {}
    for name, verb in verbs.items():
        started = time.monotonic()
        verb()
        seconds[name] = time.monotonic() - started
    return seconds


if __name__ == "__main__":
    main()
