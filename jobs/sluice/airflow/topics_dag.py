"""Finds new topics for specs with `{topic}` in their names: each gets a pipeline and a table.

Every ten minutes, once it is switched on; by hand, see
`docs/operations.md#many-topics-a-table-each`.

- **find** asks Kafka which topics there are, and writes those that get a pipeline to a file beside
  their spec. Airflow reads this file when it parses, and a DAG appears for each; it is switched on
  from the beginning. A topic that is gone from Kafka keeps its pipeline, and the log says so.

It fails, after it has written what it may, while a topic that the pattern matches gets no pipeline:
because its name is taken, or does not fit, or there are more topics than `most_pipelines`. It fails
as well while a spec with `{topic}` in it is refused. The text says which, and what to do. It reads
no record, and touches no table.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.sdk import DAG, CronDataIntervalTimetable

from sluice.airflow.python_task import python_task
from sluice.scheduling.dag_docs import linked_docs
from sluice.scheduling.run_notes import FIND
from sluice.scheduling.time_limits import SHORT
from sluice.scheduling.topics import find_in


def topics_dag(specs: Path) -> DAG:
    """The DAG `sluice_topics` of the templates in this folder."""
    with DAG(
        dag_id="sluice_topics",
        description="A pipeline for each new topic of specs with {topic} in their names",
        doc_md=linked_docs(__doc__),
        schedule=CronDataIntervalTimetable("*/10 * * * *", "UTC"),
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        # It looks at the present: there is nothing to fill in afterwards.
        allowed_run_types=["scheduled", "manual"],  # type: ignore[list-item]
        max_active_runs=1,
        default_args={
            "owner": "sluice",
            "retries": 2,
            "retry_delay": timedelta(seconds=30),
            "execution_timeout": SHORT,
        },
        tags=["sluice"],
    ) as dag:
        python_task(find_in(specs), task_id=FIND)
    return dag
