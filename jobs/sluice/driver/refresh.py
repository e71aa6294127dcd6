"""What spark-submit runs to bring a pipeline's state table up to date.

    spark-submit …/refresh.py --pipeline flights

Connections come from the environment (`AIRFLOW_CONN_<ID>`, `AWS_*`), never from the arguments.
Exit code 1: failed, a retry may help; 3: failed, and an operator must decide.
"""

from __future__ import annotations

import os

import click

from sluice.lake.job_errors import WORD, reporting_errors
from sluice.pipeline import find_pipeline
from sluice.tables.s3_access import reach_warehouse


@click.command(help=__doc__)
@click.option("--pipeline", required=True)
def main(pipeline: str) -> None:
    """Refresh the state table; the environment supplies the rest."""
    with reporting_errors("sluice.refresh", os.environ.get(WORD, "")):
        reach_warehouse(os.environ)
        find_pipeline(pipeline, os.environ).refresh()


if __name__ == "__main__":
    main()
