"""Run notes decide nothing: what cannot be told, or not be read, is a line in a log."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.operations.run_summary import failure_summary
from sluice.scheduling.run_notes import SUMMARY, tell, write_note
from sluice.scheduling.tasks import failing_for_good
from sqlalchemy import create_engine, insert, update
from sqlalchemy.orm import Session, object_session


class Task:
    """A task instance that keeps its XComs, as PostgreSQL would: JSONB has no U+0000."""

    def __init__(self) -> None:
        self.xcoms: dict[str, str] = {}

    def xcom_push(self, key, value):
        stored = json.dumps(value)
        if "\\u0000" in stored or "\\ud8" in stored:
            raise RuntimeError("unsupported Unicode escape sequence")
        self.xcoms[key] = stored


class Mute:
    """A task instance whose API server has gone."""

    def xcom_push(self, key, value):
        raise RuntimeError("API_SERVER_ERROR: 500")


def test_a_task_goes_on_when_its_summary_cannot_be_left(caplog):
    tell(Mute(), {"said": "nothing new"})
    (told,) = caplog.records
    assert told.levelname == "WARNING"
    assert "RuntimeError: API_SERVER_ERROR: 500" in told.getMessage()


@pytest.mark.parametrize(
    ("error", "becomes"),
    [(SettingsError("a typo"), AirflowFailException), (BrokerUnavailable("gone"), None)],
)
def test_what_a_task_fails_with_stays_when_its_summary_cannot_be_left(error, becomes):
    with pytest.raises(becomes or type(error), match=str(error)), failing_for_good(Mute()):
        raise error


def test_an_error_that_is_none_of_ours_is_told_and_stays():
    task = Task()
    with pytest.raises(KeyError), failing_for_good(task):
        raise KeyError("partition")
    assert json.loads(task.xcoms[SUMMARY])["said"] == "failed: KeyError: 'partition'"
    with pytest.raises(AirflowSkipException), failing_for_good(quiet := Task()):
        raise AirflowSkipException("nothing to announce")
    assert quiet.xcoms == {}


def test_what_postgresql_cannot_store_is_replaced():
    task = Task()
    tell(task, failure_summary(SettingsError("read \0 and half a \ud83d pair")))
    assert json.loads(task.xcoms[SUMMARY])["said"] == (
        "failed: SettingsError: read \ufffd and half a ? pair"
    )


@pytest.fixture
def run():
    """`run(plan={"said": …})`: a run in a database of Airflow's, and what its tasks have left."""
    from airflow import models
    from airflow.models.base import Base
    from airflow.models.dagrun import DagRun
    from airflow.models.xcom import XComModel
    from airflow.utils.types import DagRunType

    models.import_all_models()
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:

        def began(**left):
            found = DagRun(dag_id="flights", run_id="now", run_type=DagRunType.MANUAL)
            session.add(found)
            session.flush()
            for task, value in left.items():
                place = {"dag_id": "flights", "run_id": "now", "task_id": task, "map_index": -1}
                session.add(XComModel(dag_run_id=found.id, key=SUMMARY, value=value, **place))
            session.flush()
            return found

        yield began
    engine.dispose()


def session_of(ended: Any) -> Session:
    session = object_session(ended)
    assert session is not None
    return session


def test_the_note_has_a_line_of_each_task_in_their_order(run):
    ended = run(settle=json.dumps({"said": "9 records"}), plan={"said": "[0, 9)"})
    write_note(ended)
    assert ended.note == "- plan: [0, 9)\n- settle: 9 records"


def test_the_note_tells_the_pipelines_of_a_run_one_after_the_other(run):
    told = {"returns.plan": "b", "orders.settle": "c", "orders.plan": "a", "report": "not ours"}
    ended = run(**{task: json.dumps({"said": text}) for task, text in told.items()})
    write_note(ended)
    assert ended.note == "- orders.plan: a\n- orders.settle: c\n- returns.plan: b"


def test_a_run_that_is_cleared_keeps_its_note_and_adds_to_it(run):
    from airflow.models.xcom import XComModel

    ended = run(plan={"said": "[0, 9)"}, settle={"said": "9 records"})
    write_note(ended)
    session_of(ended).execute(update(XComModel).values(value={"said": "nothing new"}))
    write_note(ended)
    assert ended.note.splitlines() == [
        "- plan: [0, 9)",
        "- settle: 9 records",
        "- plan, again: nothing new",
        "- settle, again: nothing new",
    ]


@pytest.mark.parametrize(("left", "told"), [({"plan": {"said": "[0, 9)"}}, True), ({}, False)])
def test_a_task_that_was_killed_says_nothing_and_is_told(run, left, told):
    """Only beside tasks of ours: another DAG may have an `ingest`, too."""
    from airflow.models.taskinstance import TaskInstance

    ended = run(**left)
    for task, state in (("ingest", "failed"), ("report", "failed"), ("settle", "upstream_failed")):
        place = {"dag_id": "flights", "run_id": "now", "task_id": task}
        row = {**place, "state": state, "pool": "default_pool", "priority_weight": 1}
        session_of(ended).execute(insert(TaskInstance.__table__).values(id=uuid4(), **row))
    write_note(ended)
    expected = "- plan: [0, 9)\n- ingest: failed: its log says why" if told else None
    assert ended.note == expected


ANOTHERS = [None, 7, "", "no JSON", "[1]", '{"said": 7}', {"said": None}, ["said"], {"text": "x"}]


@pytest.mark.parametrize("value", ANOTHERS, ids=repr)
def test_what_others_left_under_the_same_key_is_not_read(run, value):
    ended = run(plan=value, load={"said": "of another DAG"})
    write_note(ended)
    assert ended.note is None


def test_what_others_left_keeps_no_line_of_ours_from_the_note(run):
    ended = run(plan={"said": "[0, 9)"}, ingest="no JSON")
    write_note(ended)
    assert ended.note == "- plan: [0, 9)"


def test_a_note_is_text_that_the_database_can_store(run):
    ended = run(plan={"said": "a \0 b"})
    write_note(ended)
    assert ended.note == "- plan: a \ufffd b"


def test_a_run_ends_when_its_note_cannot_be_written(caplog):
    ended: Any = SimpleNamespace(run_id="now")
    write_note(ended)
    (told,) = caplog.records
    assert told.levelname == "WARNING"
    assert told.getMessage().startswith("run now: no note is written: ")
