"""Reads new records from Kafka and lands them in a Delta table: every record once, none missing.

A run's note tells its offset ranges, its counts and the lag that is left. What to do about a
message or a question, step by step: `docs/operations.md`. Most asked for:
`#look`, `#backfill-past-intervals-in-airflow`, `#read-again-from-the-trigger-form`,
`#move-the-cursor-in-airflow`, `#too-many-malformed-records`, `#kafka-has-lost-records`,
`#see-which-spec-a-batch-was-read-with`, `#remove-a-pipeline`.

- **plan** fixes the offset ranges to read and writes them to the offsets table before anything is
  read. An unfinished plan is adopted as it is, never planned anew.
- **ingest** reads exactly those ranges with Spark and makes one commit per batch to the data
  table. Skipped when there is nothing new; Spark is not started then.
- **settle** reads the table's log back, writes the receipts with their counts and emits the
  table's asset event. Skipped when there is nothing to announce.
- **refresh**, where the spec has a `state`, makes sure that the state table follows the data table;
  mostly `ingest` has seen to that, and no Spark is started. If it fails, the data table goes on.

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

from datetime import UTC, datetime
from pathlib import Path

from airflow.sdk import DAG, CronDataIntervalTimetable

from sluice.airflow.steps import add_steps, default_args
from sluice.scheduling.dag_docs import linked_docs
from sluice.scheduling.run_params import asked_in_form, run_params
from sluice.spec_file.pipeline_spec import PipelineSpec


def pipeline_dag(spec: PipelineSpec, path: Path, *, made: bool = False) -> DAG:
    """The DAG of one pipeline; its spec is in this file.

    One that a template has `made` is switched on from the beginning: the template asked for it.
    """
    with DAG(
        dag_id=spec.pipeline,
        description=spec.description,
        doc_md=linked_docs(documentation(spec, path)),
        schedule=CronDataIntervalTimetable(spec.schedule, "UTC") if spec.schedule else None,
        # Early, so that a backfill may cover any interval that Kafka could still hold.
        start_date=datetime(2000, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        # None: as Airflow's own setting says.
        is_paused_upon_creation=False if made else None,
        default_args=default_args(spec),
        tags=["sluice", "kafka", "delta"],
        params=run_params(spec.example_topic),
    ) as dag:
        add_steps(spec, path.parent, asked_in_form)
    return dag


def documentation(spec: PipelineSpec, path: Path) -> str:
    """The text for the UI: first what one looks for, then how a run works."""
    topics = ", ".join(f"`{topic}`" for topic in spec.topics or [])
    return f"""{spec.description}

- Topics: {topics or f"those that match `{spec.topic_pattern}`"}
- Table: `{spec.table}`, with {_beside(spec)} beside it
- Kafka connection: `{spec.kafka}`
- Schedule: {f"`{spec.schedule}` (UTC)" if spec.schedule else "none, manual runs only"}
- Spec: `{path.parent.name}/{path.name}`
- Owner: {spec.owner}

{__doc__}"""


def _beside(spec: PipelineSpec) -> str:
    names = ("__quarantine", "__offsets", *(["__state"] if spec.state is not None else []))
    return " and ".join(f"`{spec.table}{name}`" for name in names)
