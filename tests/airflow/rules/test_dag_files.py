"""DAG files of a team: two lines are enough, and each error is shown where it belongs."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest
import sluice.airflow
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from sluice.airflow import pipeline_dags
from sluice.spec_file.pipeline_names import OUR_DAGS

# Where no spec makes a pipeline of each topic.
ALWAYS = {*OUR_DAGS} - {"sluice_topics"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The team's folder of DAGs; no setting names their specs."""
    monkeypatch.delenv("SLUICE_PIPELINES", raising=False)
    (tmp_path / "dags" / "team").mkdir(parents=True)
    return tmp_path / "dags"


@pytest.fixture
def specs(folder):
    """Instead of the folder of the setting: one beside the team's DAG files."""
    (folder / "team" / "streams").mkdir()
    return folder / "team" / "streams"


@pytest.fixture
def parsed(folder, monkeypatch):
    """`parsed("pipeline_dags('streams')")` is what Airflow finds in a file with this line."""

    def parse(line: str, file: str = "team/sluice_dags.py") -> DagBag:
        names = ", ".join(sluice.airflow.__all__)
        text = f"from airflow.sdk import DAG\nfrom sluice.airflow import {names}\n{line}\n"
        (folder / file).write_text(textwrap.dedent(text))
        # Wherever Airflow was started.
        monkeypatch.chdir("/")
        return DagBag(folder, bundle_path=folder, bundle_name="dags-folder")

    return parse


def test_two_lines_give_a_dag_per_spec_of_a_folder_beside_the_file(write_spec, parsed):
    for name in ("flights", "weather"):
        write_spec(name)
    bag = parsed("globals().update(pipeline_dags('streams'))")
    assert not bag.import_errors
    assert {*bag.dags} == {"flights", "weather", *ALWAYS}
    assert {dag.relative_fileloc for dag in bag.dags.values()} == {"team/sluice_dags.py"}
    assert "`streams/flights.yaml`" in bag.dags["flights"].doc_md


def test_the_tasks_of_spark_read_the_spec_from_the_folder_of_the_file(write_spec, specs, parsed):
    write_spec("flights")
    dags = parsed("globals().update(pipeline_dags('streams'))").dags
    assert dags["flights"].get_task("ingest").specs == specs
    assert dags["sluice_maintenance"].get_task("maintain_flights").specs == specs


def test_an_absolute_folder_is_taken_as_it_is(write_spec, specs, parsed):
    write_spec("flights")
    assert "flights" in parsed(f"globals().update(pipeline_dags({str(specs)!r}))").dags


def test_without_a_folder_it_is_the_one_of_the_setting(write_spec, specs, parsed, monkeypatch):
    write_spec("flights")
    monkeypatch.setenv("SLUICE_PIPELINES", str(specs))
    assert "flights" in parsed("globals().update(pipeline_dags())").dags


def test_dags_can_be_left_out(write_spec, parsed):
    for name in ("flights", "weather"):
        write_spec(name)
    left_out = "['weather', 'sluice_reset']"
    bag = parsed(f"globals().update(pipeline_dags('streams', without={left_out}))")
    assert {*bag.dags} == {"flights", "sluice_maintenance", "sluice_watch"}
    # The others are about the pipeline nevertheless.
    assert "maintain_weather" in bag.dags["sluice_maintenance"].task_ids


def test_the_dags_about_all_pipelines_are_available_alone(write_spec, parsed):
    write_spec("flights")
    bag = parsed("globals().update(operations_dags('streams'))")
    assert {*bag.dags} == {*ALWAYS}


def test_another_dag_is_scheduled_on_the_table_of_a_pipeline(write_spec, parsed):
    write_spec("flights")
    bag = parsed("with DAG('report', schedule=[data_table('flights', 'streams')]):\n    pass")
    assert not bag.import_errors
    [table] = bag.dags["report"].timetable.asset_condition.objects
    assert table.name == "sluice/flights"


def test_a_task_builds_its_own_dag_only(write_spec, parsed, monkeypatch):
    for name in ("flights", "weather"):
        write_spec(name)
    # As Airflow does around the parsing in a task (task_runner.py).
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "weather")
    assert {*parsed("globals().update(pipeline_dags('streams'))").dags} == {"weather"}


def test_a_refused_spec_has_no_dag_and_the_log_says_why(write_spec, parsed, caplog):
    write_spec("flights")
    bad = write_spec("weather", tabel="x")
    bag = parsed("globals().update(pipeline_dags('streams'))")
    assert not bag.import_errors, "it would stop the DAGs of the file"
    assert {*bag.dags} == {"flights", *ALWAYS}
    (told,) = (each.getMessage() for each in caplog.records if each.name == "sluice.airflow.dags")
    assert told.startswith(f"No DAG: {bad}: ")


def test_a_second_file_shows_refused_specs_as_its_import_error(write_spec, parsed):
    write_spec("flights")
    bad = write_spec("weather", tabel="x")
    parsed("globals().update(pipeline_dags('streams'))")
    bag = parsed("check_dags('streams')", "team/refused_specs.py")
    assert set(bag.import_errors) == {"team/refused_specs.py"}
    assert f"{bad}: tabel: unknown key" in bag.import_errors["team/refused_specs.py"]
    bad.unlink()
    assert not parsed("check_dags('streams')", "team/refused_specs.py").import_errors


def test_a_missing_folder_is_shown_by_its_path(folder, specs, parsed):
    shutil.rmtree(specs)
    parsed("globals().update(pipeline_dags('streams'))")
    bag = parsed("check_dags('streams')", "team/refused_specs.py")
    assert {*bag.dags} == {"sluice_watch"}
    assert f"{specs}: no such folder" in bag.import_errors["team/refused_specs.py"]


def test_where_no_file_calls_a_relative_folder_begins_here(write_spec, specs, monkeypatch):
    write_spec("flights")
    monkeypatch.chdir(specs.parent)
    called = eval("made('streams')", {"made": pipeline_dags})
    assert "flights" in called
    assert Path(specs, "flights.yaml").is_file()


def test_a_folder_above_the_file_is_named_without_detours(write_spec, specs, parsed):
    write_spec("flights")
    dags = parsed("globals().update(pipeline_dags('../team/./streams'))").dags
    assert dags["flights"].get_task("ingest").specs == specs
