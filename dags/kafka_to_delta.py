"""Reads new records from Kafka and lands them in a Delta table: every record once, none missing.

A run's note tells its offset ranges, its counts and the lag that is left. What to do about a
message or a question, step by step: `docs/operations.md` in the project's folder. Most asked for:
`#look`, `#backfill-past-intervals-in-airflow`, `#read-again-from-the-trigger-form`,
`#move-the-cursor-in-airflow`, `#too-many-malformed-records`, `#kafka-has-lost-records`,
`#see-which-spec-a-batch-was-read-with`, `#remove-a-pipeline`.

- **plan** fixes the offset ranges to read and writes them to the offsets table before anything is
  read. An unfinished plan is adopted as it is, never planned anew.
- **ingest** reads exactly those ranges with Spark and makes one commit per batch to the data
  table. Skipped when there is nothing new; Spark is not started then.
- **settle** reads the table's log back, writes the receipts with their counts and emits the
  table's asset event. Skipped when there is nothing to announce.

A backfill of past intervals, or a run with the parameters "read again", reads records below the
cursor once more and replaces exactly their rows. The cursor stays where it is, and fresh data goes
first: between two batches `ingest` may show "up for reschedule". Manual runs take turns with the
scheduled ones, backfill runs do not: to read a lot again, use a backfill.

**What waits for what.** A manual run is queued, its tasks without a state, until the run before it
has ended. Switching the DAG on starts the scheduled run that is due, also from the trigger form
with "Unpause": it goes first. `ingest` waits for its turn after those of other runs, even if it has
nothing to read.

Every task may be retried, cleared or killed at any time: what is committed stays, the next attempt
finishes the rest, and nothing is read twice.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.sdk import (
    DAG,
    Asset,
    CronDataIntervalTimetable,
    TriggerRule,
    XComArg,
    get_parsing_context,
    task,
)
from sluice.scheduling.deployment import PROJECT, project_settings
from sluice.scheduling.links import LINKS
from sluice.scheduling.operators import IngestOperator
from sluice.scheduling.priority import FreshFirst
from sluice.scheduling.run_params import run_params
from sluice.scheduling.tasks import PLAN, data_table, plan_with, settle_with
from sluice.scheduling.time_limits import SHORT, settle_limit
from sluice.settings import LONGEST_RUN
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import read_specs

RETRIES = {
    "retries": 3,
    "retry_delay": timedelta(seconds=30),
    "retry_exponential_backoff": 2,
    "max_retry_delay": timedelta(minutes=15),
}


def kafka_to_delta(spec: PipelineSpec, path: Path) -> DAG:
    """The DAG of one pipeline."""
    with DAG(
        dag_id=spec.pipeline,
        description=spec.description,
        doc_md=documentation(spec, path),
        schedule=CronDataIntervalTimetable(spec.schedule, "UTC") if spec.schedule else None,
        # Early, so that a backfill may cover any interval that Kafka could still hold.
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        default_args={"owner": spec.owner, **RETRIES},
        tags=["sluice", "kafka", "delta"],
        params=run_params(spec.example_topic),
    ) as dag:
        table = data_table(spec)

        plan = task(
            plan_with(spec), task_id=PLAN, multiple_outputs=False, execution_timeout=SHORT
        )()
        ingest = IngestOperator(
            task_id="ingest",
            spec=spec,
            execution_timeout=LONGEST_RUN,
            # One at a time over all runs: max_active_runs does not count backfill runs (AIP-78).
            max_active_tis_per_dag=1,
            weight_rule=FreshFirst(),
        )
        settle = settle_task(spec, table)
        plan >> ingest >> settle
    for step in (plan, settle):
        step.operator.operator_extra_links = LINKS
    return dag


def settle_task(spec: PipelineSpec, table: Asset) -> XComArg:
    """The last task. One at a time, it reads what was announced before, and announces the rest."""
    settle = task(
        settle_with(spec, table),
        task_id="settle",
        execution_timeout=settle_limit(spec),
        max_active_tis_per_dag=1,
        inlets=[table],
        outlets=[table],
        # Even if ingest was skipped: an earlier run may have died before its receipts.
        trigger_rule=TriggerRule.NONE_FAILED,
    )
    return settle()


def documentation(spec: PipelineSpec, path: Path) -> str:
    """The text for the UI: first what one looks for, then how a run works."""
    topics = ", ".join(f"`{topic}`" for topic in spec.topics or [])
    return f"""{spec.description}

- Topics: {topics or f"those that match `{spec.topic_pattern}`"}
- Table: `{spec.table}`, with `{spec.table}__quarantine` and `{spec.table}__offsets` beside it
- Kafka connection: `{spec.kafka}`
- Schedule: {f"`{spec.schedule}` (UTC)" if spec.schedule else "none, manual runs only"}
- Spec: `{path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path}`
- Owner: {spec.owner}

{__doc__}"""


# A task needs its own DAG only, and building many takes longer than most tasks.
WANTED = get_parsing_context().dag_id

for path, spec in read_specs(project_settings().pipelines).accepted.items():
    if WANTED in (None, spec.pipeline):
        kafka_to_delta(spec, path)
