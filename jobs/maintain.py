"""What spark-submit runs to maintain a pipeline's tables.

    spark-submit jobs/maintain.py --pipeline flights --run-id … --actor …

The Kafka connection comes from the environment (`AIRFLOW_CONN_<ID>`), never from the arguments.
Exit code 1: failed, worth a retry; 3: failed, and only a person's decision helps.
"""

from __future__ import annotations

import logging
import os

import click
from sluice.lake.job_errors import reporting_errors
from sluice.pipeline import find_pipeline

log = logging.getLogger("sluice.maintain")


@click.command(help=__doc__)
@click.option("--pipeline", required=True)
@click.option("--run-id", required=True, help="As the receipts that are due record it.")
@click.option("--actor", required=True, help="As the receipts that are due record it.")
def main(pipeline: str, run_id: str, actor: str) -> None:
    """Maintain the pipeline's tables; all else is found in the environment."""
    with reporting_errors("sluice.maintain"):
        done = find_pipeline(pipeline, os.environ).maintain(run_id, actor)
        for line in done.summary:
            log.info("%s: %s", pipeline, line)


if __name__ == "__main__":
    main()
