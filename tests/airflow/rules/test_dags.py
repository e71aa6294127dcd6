"""The DAGs: one per spec, all alike, cheap to parse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset, CronDataIntervalTimetable, TriggerRule
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from airflow.sdk.exceptions import ParamValidationError
from airflow.serialization.serialized_objects import DagSerialization
from airflow.utils.types import DagRunType
from sluice.errors import SettingsError
from sluice.scheduling.run_params import selection_of
from sluice.spec_file.pipeline_names import OUR_DAGS

from tests.worlds.recipes import PAGE

PROJECT = Path(__file__).resolve().parents[3]


def of_specs(bag):
    """The DAGs that are a pipeline each; those about all of them have names of ours."""
    return {name for name in bag.dags if not name.startswith("sluice_")}


@pytest.fixture
def flights(write_spec, parse):
    write_spec("flights")
    return parse().dags["flights"]


def test_the_projects_own_specs_give_a_dag_each(parse, monkeypatch):
    monkeypatch.delenv("SLUICE_PIPELINES", raising=False)
    bag = parse()
    assert not bag.import_errors
    assert of_specs(bag) == {path.stem for path in (PROJECT / "dags/pipelines").glob("*.yaml")}


def test_no_pipeline_can_take_the_name_of_a_dag_that_is_about_all_of_them(write_spec, parse):
    write_spec("flights")
    write_spec("{topic}", file="all.yaml", topics=None, topic_pattern="f.*")
    assert {*parse().dags} == {"flights", *OUR_DAGS}


def test_every_spec_is_a_dag_of_its_name(write_spec, parse):
    for name in ("flights", "weather", "planes"):
        write_spec(name)
    bag = parse()
    assert not bag.import_errors
    assert of_specs(bag) == {"flights", "weather", "planes"}


def test_a_task_builds_its_own_dag_only(write_spec, parse, monkeypatch):
    for name in ("flights", "weather"):
        write_spec(name)
    # As Airflow does around the parsing in a task (task_runner.py).
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "weather")
    assert of_specs(parse()) == {"weather"}


def test_a_run_plans_then_ingests_then_settles(flights):
    chain = {task.task_id: task.downstream_task_ids for task in flights.tasks}
    assert chain == {"plan": {"ingest"}, "ingest": {"settle"}, "settle": set()}


def test_a_state_table_is_refreshed_beside_the_receipts(write_spec, parse):
    write_spec("flights", state={"key": ["carrier"]})
    made = parse().dags["flights"]
    chain = {task.task_id: task.downstream_task_ids for task in made.tasks}
    assert chain == {
        "plan": {"ingest"},
        "ingest": {"settle", "refresh"},
        "settle": set(),
        "refresh": set(),
    }
    assert "`flights__state` beside it" in made.doc_md
    refresh = made.get_task("refresh")
    assert (refresh.retries, refresh.owner) == (3, "data-platform")


def test_intervals_are_not_empty_and_runs_take_turns(flights):
    assert isinstance(flights.timetable, CronDataIntervalTimetable)
    assert flights.catchup is False
    assert flights.max_active_runs == 1


def test_a_null_schedule_leaves_manual_runs_only(write_spec, parse):
    write_spec("flights", schedule=None)
    assert parse().dags["flights"].timetable.can_be_scheduled is False


def test_owner_description_tags_and_docs_are_shown(flights):
    assert {task.owner for task in flights.tasks} == {"data-platform"}
    assert flights.description == "Departures from New York"
    assert "sluice" in flights.tags
    for shown in (
        "**plan**",
        "**ingest**",
        "**settle**",
        "Departures",
        "`flights`",
        "flights.yaml",
    ):
        assert shown in flights.doc_md


def test_the_docs_begin_with_what_one_looks_for(flights):
    begins = flights.doc_md.splitlines()[:8]
    assert begins[0] == "Departures from New York"
    looked_for = ("flights", "flights", "kafka_default", "*/10 * * * *", "flights.yaml", "data-")
    for line, found in zip(begins[2:], looked_for, strict=True):
        assert found in line


def test_each_recipe_that_a_dag_names_is_on_the_page(write_spec, parse):
    write_spec("flights")
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
    for name, dag in parse().dags.items():
        named = set(re.findall(r"\]\(/sluice/handbook/operations#([a-z-]{3,})\)", dag.doc_md))
        assert named, name
        assert named <= anchors, name


@pytest.mark.parametrize("task_id", ["plan", "ingest", "settle"])
def test_every_task_is_retried_with_backoff_and_ends(flights, task_id):
    task = flights.get_task(task_id)
    assert task.retries >= 2
    assert task.retry_exponential_backoff > 1
    assert task.max_retry_delay <= timedelta(hours=1)
    assert task.execution_timeout <= timedelta(hours=12)


def test_one_ingest_at_a_time_over_all_runs(flights):
    assert flights.get_task("ingest").max_active_tis_per_dag == 1


@pytest.mark.parametrize(
    ("run_id", "tries", "weight"),
    [
        ("scheduled__2026-01-05T01:00:00+00:00", None, 2),
        ("by hand", 0, 2),
        ("backfill__2026-01-05T01:00:00+00:00", None, 1),
        # A run that a backfill has cleared, to take it over.
        ("scheduled__2026-01-05T01:00:00+00:00", 1, 1),
    ],
)
def test_of_the_ingests_that_wait_fresh_data_goes_first(flights, run_id, tries, weight):
    """Also where a scheduler has read the DAG from its database."""
    stored = DagSerialization.from_dict(DagSerialization.to_dict(flights))
    waiting: Any = SimpleNamespace(run_id=run_id, try_number=tries)
    assert stored.get_task("ingest").weight_rule.get_weight(waiting) == weight


def test_settle_runs_after_a_skipped_ingest_but_not_after_a_failed_one(flights):
    assert flights.get_task("settle").trigger_rule == TriggerRule.NONE_FAILED


def test_settle_announces_the_data_table_and_reads_what_it_has_announced(flights, tmp_path):
    settle = flights.get_task("settle")
    uri = (tmp_path / "warehouse" / "flights").as_uri()
    about: Any = {"pipeline": "flights", "table": "flights", "topics": ["flights"]}
    table = Asset("sluice/flights", uri, extra=about)
    assert settle.outlets == [table]
    # By reference: an inlet would keep the asset when the DAG is gone.
    assert settle.inlets == [Asset.ref(uri=uri)]
    assert settle.max_active_tis_per_dag == 1


def test_plan_passes_one_reference_on(flights):
    assert flights.get_task("plan").multiple_outputs is False


def test_a_dag_can_be_stored_without_its_secrets_or_offsets(flights):
    stored = DagSerialization.to_dict(flights)
    ingest = next(t["__var"] for t in stored["dag"]["tasks"] if t["__var"]["task_id"] == "ingest")
    assert ingest.get("template_fields", []) == []
    assert not {"env_vars", "conf", "application_args"} & set(ingest)


def test_every_parameter_has_a_type_bounds_a_title_and_a_help_text(flights):
    for name in flights.params:
        param = flights.params.get_param(name)
        assert json.loads(json.dumps(param.schema)) == param.schema, name
        assert param.description, name
        assert param.schema["title"], name
        # The form marks what may not be null as required.
        assert "null" in param.schema["type"], name
        assert "boolean" in param.schema["type"] or {"maxLength", "maxItems"} & set(param.schema)
        assert "array" not in param.schema["type"] or param.schema["items"]["maxLength"], name


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("dry_run", "yes"),
        ("reprocess_from", "yesterday"),
        ("reprocess_to", 1_767_571_200),
        ("reprocess_ranges", "flights[0] [0, 4)"),
        ("reprocess_ranges", ["x" * 513]),
        ("reprocess_ranges", ["flights[0] [0, 4)"] * 1001),
        ("reprocess_batches", [1]),
    ],
)
def test_a_value_of_another_form_is_refused(flights, name, given):
    with pytest.raises(ParamValidationError):
        given_to(flights, {name: given})


def test_a_run_without_parameters_reads_what_is_new(flights):
    assert selection_of(run("scheduled"), flights.params.validate()) is None
    assert selection_of(run("manual"), flights.params.validate()) is None


@pytest.mark.parametrize(
    ("kind", "given", "found"),
    [
        ("manual", {"reprocess_batch": ["forward-1-1"]}, "found reprocess_batch, allowed: dry_run"),
        ("manual", {"reprocess_from": "2026-01-05T00:00:00Z"}, "expected one of"),
        (
            "manual",
            {"reprocess_ranges": ["flights[0] 0-4"]},
            "expected for example flights.0. .5, ",
        ),
        ("backfill", {"reprocess_batches": ["forward-1-1"]}, "found also reprocess_batches"),
    ],
)
def test_parameters_that_mean_nothing_together_are_refused(flights, kind, given, found):
    with pytest.raises(SettingsError, match=found):
        selection_of(run(kind), given_to(flights, given))


def given_to(dag, params):
    """What the tasks of a run get that was started with these parameters."""
    for name, value in params.items():
        dag.params[name] = value
    return dag.params.validate()


def run(kind):
    day = datetime(2026, 1, 5, tzinfo=UTC)
    return SimpleNamespace(
        run_type=DagRunType(kind), data_interval_start=day, data_interval_end=day.replace(day=6)
    )


CHEAP = """
import sys
from airflow.sdk import DAG  # Airflow's own modules are not ours to answer for
before = set(sys.modules)
import runpy
runpy.run_path({file!r})
print(*sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""


@pytest.mark.patient
def test_parsing_touches_neither_spark_nor_delta_nor_kafka_nor_the_database(write_spec):
    write_spec("flights")
    script = CHEAP.format(file=str(PROJECT / "dags/kafka_to_delta.py"))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {"pyspark", "deltalake", "confluent_kafka", "pyarrow", "pandas", "py4j", "sqlite3"}
    assert "sluice" in loaded
    assert not loaded & heavy
