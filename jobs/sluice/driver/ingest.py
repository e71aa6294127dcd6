"""What spark-submit runs: land the batches of a reference.

    spark-submit …/ingest.py --pipeline flights --lane forward --generation 1 --batches 42..43

Connections come from the environment (`AIRFLOW_CONN_<ID>`, `AWS_*`), never from the arguments.
Exit code 1: failed, a retry may help; 3: failed, and an operator must decide.
"""

from __future__ import annotations

import os

import click

from sluice.lake.job_errors import WORD, reporting_errors
from sluice.offsets.batches import BatchReference
from sluice.pipeline import find_pipeline
from sluice.tables.s3_access import reach_warehouse


@click.command(help=__doc__)
@click.option("--pipeline", required=True)
@click.option("--lane", required=True, type=click.Choice(["forward", "backfill"]))
@click.option("--generation", required=True, type=click.IntRange(min=1))
@click.option("--batches", required=True, help="The first and the last: 42..43.")
def main(pipeline: str, lane: str, generation: int, batches: str) -> None:
    """Land the batches; the environment and the offsets table supply the rest."""
    with reporting_errors("sluice.ingest", os.environ.get(WORD, "")):
        reach_warehouse(os.environ)
        work = BatchReference.from_dict(
            {"pipeline": pipeline, "lane": lane, "generation": generation, "batches": batches}
        )
        find_pipeline(pipeline, os.environ).land(work)


if __name__ == "__main__":
    main()
