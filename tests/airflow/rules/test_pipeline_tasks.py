"""A pipeline as a task group: in any DAG, beside any tasks, with the parameters of a team."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG, Asset, AssetAlias, TaskGroup, TriggerRule, task, task_group
from airflow.serialization.serialized_objects import DagSerialization
from airflow.utils.types import DagRunType
from sluice.airflow import PipelineTasks
from sluice.airflow.steps import RETRIES
from sluice.errors import SettingsError, SpecError
from sluice.offsets.batches import BatchReference, BatchSequence
from sluice.scheduling.run_notes import plan_beside
from sluice.scheduling.run_params import asked_by_interval
from sluice.scheduling.tasks import planned_work

DAY = datetime(2026, 1, 5, tzinfo=UTC)


def of_a_team(specs, **dag):
    """A DAG with a task before the pipeline, and one behind it."""
    with DAG("orders_daily", schedule=None, **dag) as made:

        @task
        def before(): ...

        @task
        def report(): ...

        before() >> PipelineTasks("orders", specs=specs) >> report()
    return made


@pytest.fixture
def dag(write_spec, specs):
    write_spec("orders")
    return of_a_team(specs)


def chain(dag):
    return {each.task_id: each.downstream_task_ids for each in dag.tasks}


def test_it_stands_between_other_tasks(dag):
    expected = {
        "before": {"orders.plan"},
        "orders.plan": {"orders.ingest"},
        "orders.ingest": {"orders.settle"},
        "orders.settle": {"report"},
        "report": set(),
    }
    assert chain(dag) == expected
    stored = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    assert chain(stored) == expected


def test_a_state_table_has_a_task_beside_the_receipts(write_spec, specs):
    write_spec("orders", state={"key": ["carrier"]})
    made = of_a_team(specs)
    expected = {
        "before": {"orders.plan"},
        "orders.plan": {"orders.ingest"},
        "orders.ingest": {"orders.settle", "orders.refresh"},
        "orders.settle": {"report"},
        "orders.refresh": {"report"},
        "report": set(),
    }
    assert chain(made) == expected
    assert chain(DagSerialization.from_dict(DagSerialization.to_dict(made))) == expected
    refresh = made.get_task("orders.refresh")
    assert refresh.trigger_rule == TriggerRule.NONE_FAILED
    assert refresh.max_active_tis_per_dag == 1
    # It may succeed without an event: a skipped one would skip the report.
    assert [type(each) for each in refresh.outlets] == [AssetAlias]


def test_its_tasks_are_those_of_the_pipelines_own_dag(dag, write_spec, specs, parse):
    own, ours = parse().dags["orders"], dag.task_group_dict["orders"]
    for step in own.tasks:
        inside = dag.get_task(f"orders.{step.task_id}")
        assert inside.task_group.group_id == ours.group_id
        for setting in (
            *("trigger_rule", "execution_timeout", "max_active_tis_per_dag", "outlets", "owner"),
            *(name for name in RETRIES if name != "retry_exponential_backoff"),
        ):
            assert getattr(inside, setting) == getattr(step, setting), (step.task_id, setting)
        assert type(inside.weight_rule) is type(step.weight_rule)
    assert dag.get_task("orders.settle").trigger_rule == TriggerRule.NONE_FAILED
    assert dag.get_task("orders.ingest").specs == specs


def test_the_team_decides_about_retries_and_owner(write_spec, specs):
    write_spec("orders", owner="data-platform")
    theirs = {"retries": 7, "owner": "the team"}
    plan = of_a_team(specs, default_args=theirs).get_task("orders.plan")
    assert (plan.retries, plan.owner) == (7, "the team")
    assert plan.retry_delay == RETRIES["retry_delay"]
    with DAG("d", schedule=None, default_args=theirs):
        group = PipelineTasks("orders", specs, default_args={"retries": 1})
    assert {each.retries for each in group} == {1}
    later: Any = {"retry_delay": timedelta(hours=1)}
    with DAG("d", schedule=None), TaskGroup("outer", default_args=later):
        group = PipelineTasks("orders", specs)
    settings = {(each.retries, each.retry_delay) for each in group}
    assert settings == {(3, timedelta(hours=1))}


def test_two_of_them_are_in_one_dag_and_one_in_another_group(write_spec, specs):
    write_spec("orders")
    write_spec("returns")
    with DAG("d", schedule=None) as dag:
        PipelineTasks("orders", specs)
        with TaskGroup("more"):
            PipelineTasks("returns", specs, group_id="back")
    assert {"orders.settle", "more.back.settle"} <= set(dag.task_ids)


def test_a_pipeline_without_a_valid_spec_is_the_error_of_the_file(write_spec, specs):
    bad = write_spec("orders", tabel="x")
    with DAG("d", schedule=None), pytest.raises(SpecError, match=f"{bad}: tabel: unknown key"):
        PipelineTasks("orders", specs)
    with (
        DAG("d", schedule=None),
        pytest.raises(SpecError, match=r"a spec of a pipeline 'order', found pipelines"),
    ):
        PipelineTasks("order", specs)


@pytest.mark.parametrize(
    ("task_id", "plan"),
    [("settle", "plan"), ("orders.settle", "orders.plan"), ("a.b.ingest", "a.b.plan")],
)
def test_a_task_finds_the_plan_of_its_own_group(task_id, plan):
    assert plan_beside(task_id) == plan
    work = BatchReference(BatchSequence("orders", "forward", 1), range(1, 2))
    ti = SimpleNamespace(
        task_id=task_id, xcom_pull=lambda task_ids: {plan: work.as_dict()}[task_ids]
    )
    assert planned_work(ti) == work
    ti.xcom_pull = lambda task_ids: "of another task"
    with pytest.raises(SettingsError, match=f"Clear `{plan}`"):
        planned_work(ti)


def run(kind: str, start: datetime | None, end: datetime | None) -> Any:
    return SimpleNamespace(
        run_type=DagRunType(kind), data_interval_start=start, data_interval_end=end
    )


@pytest.mark.parametrize(
    ("kind", "start", "end"),
    [
        ("scheduled", DAY, DAY + timedelta(days=1)),
        ("manual", None, None),
        ("asset_triggered", None, None),
        # Airflow's schedule from a cron expression has intervals without length.
        ("backfill", DAY, DAY),
        ("backfill", None, None),
    ],
)
def test_a_run_reads_what_is_new_and_none_of_the_teams_parameters(kind, start, end):
    asked = asked_by_interval(run(kind, start, end), {"dry_run": True, "reprocess_from": "x"})
    assert asked.selection is None
    assert not asked.dry_run


def test_a_backfill_over_intervals_reads_them_again():
    asked = asked_by_interval(run("backfill", DAY, DAY + timedelta(days=1)), {})
    assert asked.selection is not None


def test_the_asset_says_what_it_is(dag, tmp_path):
    (table,) = dag.get_task("orders.settle").outlets
    assert isinstance(table, Asset)
    assert (table.name, table.uri) == (
        "sluice/orders",
        (tmp_path / "warehouse" / "orders").as_uri(),
    )
    assert table.extra == {"pipeline": "orders", "table": "orders", "topics": ["flights"]}


def test_a_teams_defaults_do_not_part_plan_and_ingest(write_spec, specs):
    write_spec("orders")
    theirs = {"do_xcom_push": False, "trigger_rule": TriggerRule.ALL_DONE}
    made = of_a_team(specs, default_args=theirs)
    for each in ("orders.plan", "orders.ingest"):
        task_made = made.get_task(each)
        assert (task_made.do_xcom_push, task_made.trigger_rule) == (True, TriggerRule.ALL_SUCCESS)


def test_a_pipeline_is_in_a_dag_once(write_spec, specs):
    write_spec("orders")
    with DAG("orders_daily", schedule=None):
        PipelineTasks("orders", specs=specs, group_id="a")
        with pytest.raises(SettingsError, match=r"once in the DAG .*, found also 'a\.ingest'"):
            PipelineTasks("orders", specs=specs, group_id="b")


def test_another_task_of_the_same_id_is_refused(write_spec, specs):
    write_spec("orders")
    with DAG("orders_daily", schedule=None):

        @task
        def plan(): ...

        plan()
        with pytest.raises(SettingsError, match=r"found plan__1: another task of the DAG"):
            PipelineTasks("orders", specs=specs, prefix_group_id=False)


def test_a_mapped_group_is_no_place_for_it(write_spec, specs):
    write_spec("orders")
    with DAG("orders_daily", schedule=None):

        @task_group
        def each_day(day):
            PipelineTasks("orders", specs=specs)

        with pytest.raises(SettingsError, match="found it in a mapped task group"):
            each_day.expand(day=[1, 2])
