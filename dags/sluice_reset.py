"""Moves the cursor of a pipeline: back, forward, or past a single record. Manual runs only.

Step by step: `docs/operations.md#move-the-cursor-in-airflow`, in the project's folder.

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

from datetime import timedelta

from airflow.sdk import DAG, task
from sluice.scheduling.deployment import project_settings
from sluice.scheduling.reset_form import reset_params
from sluice.scheduling.reset_tasks import EXECUTE, PREVIEW, execute, preview
from sluice.scheduling.time_limits import SHORT
from sluice.spec_folder import read_specs

SPECS = list(read_specs(project_settings().pipelines).accepted.values())

if SPECS:
    with DAG(
        dag_id="sluice_reset",
        description="Move the cursor of a pipeline",
        doc_md=__doc__,
        schedule=None,
        catchup=False,
        allowed_run_types=["manual"],
        max_active_runs=1,
        default_args={
            "owner": "sluice",
            "retries": 3,
            "retry_delay": timedelta(seconds=10),
            "execution_timeout": SHORT,
        },
        tags=["sluice"],
        params=reset_params([each.pipeline for each in SPECS], SPECS[0].example_topic),
    ):
        (
            task(preview, task_id=PREVIEW, multiple_outputs=False)()
            >> task(execute, task_id=EXECUTE)()
        )
