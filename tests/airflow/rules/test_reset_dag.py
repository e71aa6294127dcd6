"""The DAG `sluice_reset`: started by hand, bounded parameters, a preview before anything else."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException, ParamValidationError
from airflow.serialization.serialized_objects import DagSerialization
from sluice.scheduling.reset_tasks import execute_in


@pytest.fixture
def dag(write_spec, parse):
    for name in ("flights", "weather"):
        write_spec(name)
    write_spec("refused", tabel="typo")
    bag = parse()
    assert not [file for file in bag.import_errors if "sluice_reset" in file]
    return bag.dags["sluice_reset"]


@pytest.fixture
def given(dag):
    """`given(target="to-latest")` is what a run's tasks get, with these parameters changed."""

    def params(**changes):
        for name, value in {"pipeline": "flights", "target": "to-earliest", **changes}.items():
            dag.params[name] = value
        return dag.params.validate()

    return params


def test_it_is_started_by_hand_and_shows_before_it_does(dag):
    assert dag.timetable.can_be_scheduled is False
    assert dag.max_active_runs == 1
    chain = {task.task_id: task.downstream_task_ids for task in dag.tasks}
    assert chain == {"preview": {"execute"}, "execute": set()}
    assert "**preview**" in dag.doc_md
    DagSerialization.to_dict(dag)


def test_accepted_pipelines_are_offered_and_nothing_is_executed_unless_asked(dag):
    schema = dag.params.get_param("pipeline").schema
    assert schema["enum"] == ["flights", "weather"]
    assert dag.params["execute"] is False


@pytest.mark.parametrize("name", ["pipeline", "target"])
def test_whose_cursor_goes_where_is_never_taken_for_granted(dag, name):
    dag.params[({"pipeline", "target"} - {name}).pop()] = {"pipeline": "to-latest"}.get(
        name, "flights"
    )
    with pytest.raises(ParamValidationError, match=f"{name}.*No value passed"):
        dag.params.validate()


def test_without_a_pipeline_there_is_nothing_to_reset(specs, parse):
    bag = parse()
    assert "sluice_reset" not in bag.dags
    assert not bag.import_errors


def test_every_parameter_has_a_title_a_help_text_and_bounds(dag):
    for name in dag.params:
        param = dag.params.get_param(name)
        assert param.description, name
        assert param.schema["title"], name
        kinds = param.schema["type"]
        bounds = {"enum", "maxLength", "maximum", "maxItems", "format"}
        assert "boolean" in kinds or bounds & set(param.schema), name


def test_only_pipeline_and_target_must_be_filled_in(dag):
    """The form marks what may not be null as required, and keeps its button closed without it."""
    required = [
        name for name in dag.params if "null" not in dag.params.get_param(name).schema["type"]
    ]
    assert required == ["pipeline", "target"]


def test_a_preview_needs_no_reason(given):
    assert given(target="to-latest")["reason"] is None


def test_a_targets_value_is_beside_the_target(dag):
    """In the form's first section, which is open; only what is rarely needed is folded away."""
    folded = [name for name in dag.params if "section" in dag.params.get_param(name).schema]
    assert folded == ["new_cluster", "bring_back_erased"]


def test_the_examples_name_the_pipelines_topic(write_spec, parse):
    write_spec("orders", topics=["orders.v2"])
    params = parse().dags["sluice_reset"].params
    examples = [params.get_param(name).description for name in ("positions", "records", "topics")]
    assert all("`orders.v2" in each for each in examples)


def test_it_is_only_ever_run_by_hand(dag):
    assert {each.value for each in dag.allowed_run_types} == {"manual"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pipeline", "refused"),
        ("target", "somewhere"),
        ("moment", "x" * 65),
        ("shift", "5"),
        ("shift", 10**16),
        ("reason", "x" * 1001),
        ("duration", "P" + "1" * 32),
        ("positions", ["x" * 513]),
        ("records", ["flights[0]@5"] * 1001),
        ("topics", "flights"),
        ("as_previewed", "x" * 65),
    ],
)
def test_what_is_out_of_bounds_is_refused_before_a_run_starts(given, name, value):
    with pytest.raises(ParamValidationError):
        given(**{name: value})


GOOD = [
    {"target": "to-earliest"},
    {"target": "to-latest", "topics": ["flights:0,1"]},
    {"target": "to-table"},
    {"target": "to-datetime", "moment": "2026-11-01T06:00:00Z"},
    {"target": "by-duration", "duration": "P1DT2H"},
    {"target": "shift-by", "shift": -5, "topics": ["flights"]},
    {"target": "shift-by", "shift": 0},
    {"target": "to-offsets", "positions": ["flights[0]=5", "flights[1]=0"]},
    {"target": "to-group", "group": "old"},
    {"target": "skip", "records": ["flights[0]@120"]},
]
BAD = [
    ({"target": "shift-by"}, "expected shift to be filled in, found nothing"),
    ({"target": "to-latest", "shift": 3}, "expected no value to be filled in, found shift"),
    ({"target": "to-group", "group": "a", "shift": 3}, "found group, shift"),
    ({"target": "to-offsets", "positions": ["a[0]=1"], "topics": ["a"]}, "leave the topic out"),
    ({"target": "skip", "records": ["a[0]@1"], "topics": ["a"]}, "leave the topic out"),
    ({"target": "to-datetime", "moment": "2026-02-30"}, "moment: '2026-02-30' is not a moment"),
    ({"target": "by-duration", "duration": "PT"}, "not a duration"),
    ({"target": "by-duration", "duration": "an hour"}, "expected for example PT1H"),
    ({"target": "to-offsets", "positions": ["flights=5"]}, "expected for example flights.0.=120"),
    ({"target": "skip", "records": ["flights[0]=5"]}, "expected for example flights.0.@120"),
    ({"target": "to-latest", "topics": ["flights:x"]}, "topics: 'flights:x' is not a topic"),
    ({"target": "to-offsets", "positions": ["a[0]=1", "a[0]=2"]}, "given twice"),
    (
        {"target": "to-latest", "topic": ["flights:0"]},
        "params: found topic, allowed: pipeline, tar",
    ),
]


@pytest.mark.parametrize("changes", GOOD, ids=lambda changes: changes["target"])
def test_every_target_can_be_asked_for(given, changes):
    from sluice.scheduling.reset_form import where_to

    assert where_to(given(**changes))


@pytest.mark.parametrize(("changes", "why"), BAD, ids=lambda case: str(case)[:30])
def test_values_that_do_not_go_with_the_target_are_refused(given, changes, why):
    from sluice.errors import SettingsError
    from sluice.scheduling.reset_form import where_to

    with pytest.raises(SettingsError, match=why):
        where_to(given(**changes))


def test_execute_is_skipped_unless_asked_and_needs_a_reason(given, specs):
    run = SimpleNamespace(run_id="manual", triggering_user_name="me", run_type=None)
    seen = SimpleNamespace(xcom_pull=lambda task_ids: {"preview": "2-1-00000000"})
    with pytest.raises(AirflowSkipException, match="nothing was changed"):
        execute_in(specs)(given(), run, seen)
    with pytest.raises(AirflowFailException, match="reason: needed"):
        execute_in(specs)(given(execute=True, reason="  "), run, seen)


def test_a_preview_that_was_marked_as_success_has_shown_nothing(given, specs):
    run = SimpleNamespace(run_id="manual", triggering_user_name="me", run_type=None)
    for value in (None, {}, {"preview": None}, "2-1-00000000"):
        seen = SimpleNamespace(xcom_pull=lambda task_ids, value=value: value)
        with pytest.raises(AirflowFailException, match="has shown nothing: clear it"):
            execute_in(specs)(given(execute=True, reason="a test"), run, seen)
