"""Moves the cursor of a pipeline: back, forward, or past a single record. Manual runs only.

Step by step: `docs/operations.md#move-the-cursor-in-airflow`.

- **preview** shows, for each partition, the old and the new cursor, how much is read again or
  skipped, what Kafka still holds and how many rows are replaced. It changes nothing.
- **execute** does what the preview has shown, if the run was started with `execute` and a reason.
  It refuses if the result would now differ, as after a batch that has landed meanwhile. Only the
  end of a log that grows may differ: `to-latest` and `by-duration` go by the moment of `execute`.

Offsets that are read again replace their rows in one commit; nothing is ever stored twice. Skipped
offsets are recorded with who, when and why: `sluice history` shows it. Preview first: start a run
without `execute`, read the log of `preview`, then start one with `execute` and its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from airflow.sdk import DAG

from sluice.airflow.python_task import python_task
from sluice.scheduling.dag_docs import linked_docs
from sluice.scheduling.reset_form import reset_params
from sluice.scheduling.reset_tasks import execute_in, preview_in
from sluice.scheduling.run_notes import EXECUTE, PREVIEW
from sluice.scheduling.time_limits import SHORT
from sluice.spec_file.pipeline_spec import PipelineSpec


def reset_dag(accepted: Sequence[PipelineSpec], specs: Path) -> DAG:
    """The DAG `sluice_reset` of these pipelines, whose specs are in this folder."""
    with DAG(
        dag_id="sluice_reset",
        description="Move the cursor of a pipeline",
        doc_md=linked_docs(__doc__),
        schedule=None,
        catchup=False,
        allowed_run_types=["manual"],  # type: ignore[list-item]
        max_active_runs=1,
        default_args={
            "owner": "sluice",
            "retries": 3,
            "retry_delay": timedelta(seconds=10),
            "execution_timeout": SHORT,
        },
        tags=["sluice"],
        params=reset_params([each.pipeline for each in accepted], accepted[0].example_topic),
    ) as dag:
        preview = python_task(preview_in(specs), task_id=PREVIEW, multiple_outputs=False)
        preview >> python_task(execute_in(specs), task_id=EXECUTE)
    return dag
