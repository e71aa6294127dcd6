"""Run notes: when a pipeline's run ends, the scheduler writes what its tasks said into its note.

A task cannot write a note. It leaves its summary as an XCom, and this listener, which runs where
the run ends, copies the lines. A note that a person has written stays, and so do the lines of a run
that is cleared: what it read and what it failed with must not go with the clear. Nothing waits for
a note: a task or a run whose summary cannot be left or read ends as it would without one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from airflow.sdk.log import redact  # type: ignore[attr-defined]

from sluice.operations.run_summary import Summary, run_note
from sluice.telling import deciding_nothing

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

log = logging.getLogger(__name__)

# The XCom key of a task's summary.
SUMMARY = "sluice_summary"
PLAN = "plan"
REFRESH = "refresh"
# In a task group, its name and a dot come before these.
TASKS = (PLAN, "ingest", "settle", REFRESH)
# The tasks of `sluice_reset`, `sluice_watch` and `sluice_topics`.
PREVIEW, EXECUTE, WATCH, FIND = "preview", "execute", "watch", "find"
_OURS = (*TASKS, PREVIEW, EXECUTE, WATCH, FIND)
_SILENT = "failed: its log says why"
# What Airflow's table of notes holds.
_LONGEST = 1000


def tell(ti: Any, summary: Summary) -> None:
    """Leave a task's summary for the run's note, and for who looks at its XComs.

    Nothing where a body is called outside of a task, and `ti` is None.
    """
    if ti is None:
        return
    with deciding_nothing(log, "the run's note will not tell what this task has done"):
        said = _storable(summary["said"])
        ti.xcom_push(key=SUMMARY, value=redact({**summary, "said": said}))


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
    with deciding_nothing(log, "run %s: no note is written", dag_run.run_id):
        _write_note(dag_run)


def _write_note(dag_run: DagRun) -> None:
    from airflow.models.xcom import XComModel
    from sqlalchemy.orm import object_session

    session = object_session(dag_run)
    written = dag_run.dag_run_note
    if session is None or (written is not None and written.user_id is not None):
        return
    told = XComModel.get_many(run_id=dag_run.run_id, dag_ids=dag_run.dag_id, key=SUMMARY)
    with session.no_autoflush:
        rows = session.execute(told.with_only_columns(XComModel.task_id, XComModel.value)).all()
        failed = session.scalars(_failed_tasks(dag_run)).all()
    if lines := _lines(((task, value) for task, value in rows), failed):
        dag_run.note = run_note(lines, _LONGEST, written.content or "" if written else "")


def _failed_tasks(dag_run: DagRun) -> Any:
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import TaskInstanceState
    from sqlalchemy import select

    of_run = (TaskInstance.dag_id == dag_run.dag_id, TaskInstance.run_id == dag_run.run_id)
    failed = TaskInstance.state == TaskInstanceState.FAILED
    return select(TaskInstance.task_id).where(*of_run, failed)


def _lines(told: Iterable[tuple[str, Any]], failed: Iterable[str]) -> dict[str, str]:
    """What each task said, group by group in the order of the tasks; what others left does not
    count. A task that failed and said nothing, as it was killed, has a line beside those that did.
    """
    found = {task: said for task, value in told if (said := _said(value)) and _is_ours(task)}
    groups = {_place(task)[0] for task in found}
    silent = [each for each in failed if _is_ours(each) and _place(each)[0] in groups]
    found = {**dict.fromkeys(silent, _SILENT), **found}
    ours = sorted(found, key=lambda task: (_place(task)[0], _OURS.index(_place(task)[1])))
    return {task: _storable(found[task]) for task in ours}


def _place(task: str) -> tuple[str, str]:
    """The group and the step of a task's id."""
    group, _, step = task.rpartition(".")
    return group, step


def _is_ours(task: str) -> bool:
    return _place(task)[1] in _OURS


def plan_beside(task_id: str) -> str:
    """The id of the `plan` task of the same pipeline and DAG."""
    group, dot, _ = task_id.rpartition(".")
    return f"{group}{dot}{PLAN}"


def _said(value: Any) -> str | None:
    """The line of a summary, as it is or in JSON; None for any other text."""
    try:
        match json.loads(value) if isinstance(value, str) else value:
            case {"said": str(said)}:
                return said
    except ValueError:
        pass
    return None


def _storable(text: str) -> str:
    """The text without what PostgreSQL refuses: U+0000, and half of a surrogate pair."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
