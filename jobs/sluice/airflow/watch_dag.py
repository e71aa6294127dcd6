"""Looks at all pipelines every five minutes, and fails when a limit of a spec's `alerts` is
exceeded: the text of the failed task says which, expected and found.

- **watch** reads the tables of all pipelines and asks each Kafka cluster once. It sends the metrics
  (docs/metrics.md), then fails with every exceeded limit and its cause, every pipeline with
  `alerts` that is stopped, and every spec that is refused. A pipeline without `alerts` never makes
  it fail. It changes nothing.

It is one task, so that a cluster that is down calls a person once, and not once for each pipeline.
The deployment decides who is called: docs/deployment.md, "Who is called". See
`docs/operations.md#call-a-person`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from airflow.sdk import DAG, CronDataIntervalTimetable

from sluice.airflow.python_task import python_task
from sluice.scheduling.dag_docs import linked_docs
from sluice.scheduling.run_notes import WATCH
from sluice.scheduling.time_limits import SHORT
from sluice.scheduling.watch import watch_in


def watch_dag(specs: Path) -> DAG:
    """The DAG `sluice_watch` of the pipelines whose specs are in this folder."""
    with DAG(
        dag_id="sluice_watch",
        description="Metrics of all pipelines, and a failure when a limit is exceeded",
        doc_md=linked_docs(__doc__),
        schedule=CronDataIntervalTimetable("*/5 * * * *", "UTC"),
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        # It looks at the present: there is nothing to fill in afterwards, nor to try again.
        allowed_run_types=["scheduled", "manual"],  # type: ignore[list-item]
        max_active_runs=1,
        default_args={"owner": "sluice", "retries": 0, "execution_timeout": SHORT},
        tags=["sluice"],
    ) as dag:
        python_task(watch_in(specs), task_id=WATCH)
    return dag
