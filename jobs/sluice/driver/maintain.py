"""What spark-submit runs to maintain a pipeline's tables.

    spark-submit …/maintain.py --pipeline flights --run-id … --actor …

Connections come from the environment (`AIRFLOW_CONN_<ID>`, `AWS_*`), never from the arguments.
Exit code 1: failed, a retry may help; 3: failed, and an operator must decide.
"""

from __future__ import annotations

import logging
import os

import click

from sluice.lake.job_errors import WORD, reporting_errors
from sluice.pipeline import find_pipeline
from sluice.tables.s3_access import reach_warehouse

log = logging.getLogger("sluice.maintain")


@click.command(help=__doc__)
@click.option("--pipeline", required=True)
@click.option("--run-id", required=True, help="Recorded in receipts that are due.")
@click.option("--actor", required=True, help="Recorded in receipts that are due.")
def main(pipeline: str, run_id: str, actor: str) -> None:
    """Maintain the pipeline's tables; the environment supplies the rest."""
    with reporting_errors("sluice.maintain", os.environ.get(WORD, "")):
        reach_warehouse(os.environ)
        done = find_pipeline(pipeline, os.environ).maintain(run_id, actor)
        for line in done.summary:
            log.info("%s: %s", pipeline, line)


if __name__ == "__main__":
    main()
