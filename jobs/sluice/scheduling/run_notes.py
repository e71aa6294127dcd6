"""Run notes: when a pipeline's run ends, the scheduler writes what its tasks said into its note.

A task cannot write a note. It leaves its summary as an XCom, and this listener, which runs where
the run ends, copies the lines. A note that a person has written stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from airflow.sdk.log import redact  # type: ignore[attr-defined]

from sluice.offsets.run_summary import Summary, run_note

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

# The XCom key of a task's summary.
SUMMARY = "sluice_summary"
TASKS = ("plan", "ingest", "settle")
# What Airflow's table of notes holds.
_LONGEST = 1000


def tell(ti: Any, summary: Summary) -> None:
    """Leave a task's summary for the run's note, and for who looks at its XComs."""
    ti.xcom_push(key=SUMMARY, value=redact(dict(summary)))


@hookimpl
def on_dag_run_success(dag_run: DagRun, msg: str) -> None:
    """Write the note of a run that succeeded."""
    write_note(dag_run)


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:
    """Write the note of a run that failed."""
    write_note(dag_run)


def write_note(dag_run: DagRun) -> None:
    """Write the note, in the transaction that ends the run; nothing for runs of other DAGs."""
    from airflow.models.xcom import XComModel
    from sqlalchemy.orm import object_session

    session = object_session(dag_run)
    written = dag_run.dag_run_note
    if session is None or (written is not None and written.user_id is not None):
        return
    told = XComModel.get_many(run_id=dag_run.run_id, dag_ids=dag_run.dag_id, key=SUMMARY)
    with session.no_autoflush:
        rows = session.execute(told.with_only_columns(XComModel.task_id, XComModel.value)).all()
    if rows:
        dag_run.note = run_note(_lines((task, value) for task, value in rows), _LONGEST)


def _lines(told: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """What each task said, in the order of the tasks."""
    found = {task: json.loads(value) if isinstance(value, str) else value for task, value in told}
    return {task: str(found[task]["said"]) for task in TASKS if task in found}
