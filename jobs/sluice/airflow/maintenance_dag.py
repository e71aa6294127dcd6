"""Keeps the tables of all pipelines small and fast: one task per pipeline, one after the other.

Each night at 02:30 UTC, once it is switched on; by hand, see `docs/operations.md#maintenance`.

- Receipts that are due are written first.
- Rows of the **quarantine** table that no longer count are removed, once no RESTORE of the data
  table can bring them back.
- **OPTIMIZE** compacts the small files of the data and quarantine tables; the offsets table is
  compacted, too, and gets a checkpoint.
- **VACUUM** deletes files that a table has not referenced for its
  `delta.deletedFileRetentionDuration` (7 days). A table with less than six hours, the longest a
  run may last, is refused.

No row that counts is touched. It is safe beside running pipelines, and may be retried, cleared or
killed at any time: a step that conflicts with another commit is left for the next night.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.sdk import DAG, CronDataIntervalTimetable

from sluice.scheduling.dag_docs import linked_docs
from sluice.scheduling.operators import MaintainOperator
from sluice.scheduling.run_params import maintenance_params
from sluice.settings import LONGEST_RUN
from sluice.spec_file.pipeline_spec import PipelineSpec


def maintenance_dag(accepted: Sequence[PipelineSpec], specs: Path) -> DAG:
    """The DAG `sluice_maintenance` of these pipelines, whose specs are in this folder."""
    with DAG(
        dag_id="sluice_maintenance",
        description="Compact and vacuum the tables of all pipelines",
        doc_md=linked_docs(__doc__),
        schedule=CronDataIntervalTimetable("30 2 * * *", "UTC"),
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        # It reads no interval: there is nothing to fill in afterwards.
        allowed_run_types=["scheduled", "manual"],  # type: ignore[list-item]
        max_active_runs=1,
        # Pipelines keep running meanwhile, and need their share of the machine.
        max_active_tasks=1,
        default_args={
            "owner": "sluice",
            "retries": 2,
            "retry_delay": timedelta(minutes=5),
            "execution_timeout": LONGEST_RUN,
        },
        tags=["sluice"],
        params=maintenance_params(spec.pipeline for spec in accepted),
    ) as dag:
        for spec in accepted:
            MaintainOperator(task_id=f"maintain_{spec.pipeline}", spec=spec, specs=specs)
    return dag
