"""Keeps the tables of all pipelines small and fast: one task a pipeline, one after the other.

- Receipts that are due are written first.
- Rows of the **quarantine** table that count no more are removed, once no RESTORE of the data table
  can bring them back.
- **OPTIMIZE** puts the small files of the data and quarantine tables together; the offsets table is
  compacted, too, and gets a checkpoint.
- **VACUUM** deletes files that a table has not named for as long as its
  `delta.deletedFileRetentionDuration` (7 days). A table with less than six hours, as long as a run
  may last, is refused.

No row that counts is touched. It is safe beside running pipelines, and may be retried, cleared or
killed at any time: a step that another commit crosses is left for the next night.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable
from sluice.scheduling.deployment import project_settings
from sluice.scheduling.operators import MaintainOperator
from sluice.scheduling.run_params import maintenance_params
from sluice.settings import LONGEST_RUN
from sluice.spec.spec_files import read_specs

SPECS = list(read_specs(project_settings().pipelines).accepted.values())

if SPECS:
    with DAG(
        dag_id="sluice_maintenance",
        description="Compact and vacuum the tables of all pipelines",
        doc_md=__doc__,
        schedule=CronDataIntervalTimetable("30 2 * * *", "UTC"),
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        # Runs of the pipelines go on beside it, and need their share of the machine.
        max_active_tasks=1,
        default_args={
            "owner": "sluice",
            "retries": 2,
            "retry_delay": timedelta(minutes=5),
            "execution_timeout": LONGEST_RUN,
        },
        tags=["sluice"],
        params=maintenance_params(spec.pipeline for spec in SPECS),
    ):
        for spec in SPECS:
            MaintainOperator(task_id=f"maintain_{spec.pipeline}", spec=spec)
