"""The task `refresh`: no Spark where nothing is left, and an event where rows have changed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.sdk.execution_time.context import OutletEventAccessors
from airflow.utils.types import DagRunType
from deltalake import DeltaTable
from sluice.airflow import state_table as asset_of
from sluice.errors import SpecError
from sluice.scheduling.assets import state_events
from sluice.scheduling.operators import RefreshOperator
from sluice.scheduling.run_notes import SUMMARY
from sluice.scheduling.run_params import BRING_BACK_ERASED, DRY_RUN, REPROCESS, asked_in_form
from sluice.spec_folder import load_spec

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.states import STATE, keyed, put, refreshed

ASKED_NOTHING = {**dict.fromkeys(REPROCESS), DRY_RUN: False, BRING_BACK_ERASED: False}


class Events(list[Any]):
    """The asset's events of earlier runs, newest first, whichever is asked for."""

    def __getitem__(self, _: Any) -> Any:
        return self

    def ascending(self, _: bool) -> Events:
        return self

    def limit(self, _: int) -> Events:
        return self


class Run:
    """One try of the task, and what it has left."""

    def __init__(self, spec_file, before=(), **params):
        spec = load_spec(spec_file)
        self.told: dict[str, Any] = {}
        self.outlets = OutletEventAccessors()
        self.context: Any = {
            "ti": SimpleNamespace(
                task_id="refresh", xcom_push=lambda key, value: self.told.update({key: value})
            ),
            "dag_run": SimpleNamespace(run_type=DagRunType.MANUAL),
            "params": {**ASKED_NOTHING, **params},
            "inlet_events": Events(before),
            "outlet_events": self.outlets,
        }
        self.alias = state_events(spec)
        self.task = RefreshOperator(
            task_id="refresh", spec=spec, specs=spec_file.parent, asking=asked_in_form
        )

    def events(self) -> list[dict[str, Any]]:
        self.task.execute(self.context)
        return [each.extra for each in self.outlets[self.alias].asset_alias_events]


@pytest.fixture
def kafka(monkeypatch):
    value = '{"conn_type": "kafka", "extra": {"bootstrap.servers": "127.0.0.1:1"}}'
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", value)


@pytest.fixture
def spec_file(write_spec, kafka):
    return write_spec("flights", state={"key": ["carrier"]})


def test_a_dry_run_is_skipped(spec_file):
    with pytest.raises(AirflowSkipException, match="a dry run"):
        Run(spec_file, dry_run=True).events()


def test_before_the_first_batch_it_succeeds_without_an_event(spec_file):
    run = Run(spec_file)
    assert run.events() == []
    assert run.told[SUMMARY]["said"] == "state: not made yet"


def test_the_state_table_is_an_asset_of_its_own(spec_file, specs, write_spec, tmp_path):
    found = asset_of("flights", specs)
    assert isinstance(found, Asset)
    where = (tmp_path / "warehouse" / "flights__state").as_uri()
    assert (found.name, found.uri) == ("sluice/flights__state", where)
    assert found.extra == {"pipeline": "flights", "table": "flights", "key": ["carrier"]}
    write_spec("plain")
    with pytest.raises(SpecError, match="plain: state: expected the columns of the key"):
        asset_of("plain", specs)


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines, monkeypatch: pytest.MonkeyPatch) -> Installed:
    trips = keyed(topic, pipeline)
    for name, value in trips.environment.items():
        monkeypatch.setenv(name, value)
    # Whatever would be submitted fails.
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "nowhere"}')
    return trips


@pytest.mark.integration
def test_an_event_tells_what_changed_since_the_last_one(trips: Installed) -> None:
    put(trips, 1, "a")
    put(trips, 2, "b")
    trips.run()
    refreshed(trips)
    put(trips, 1, "c")
    trips.run()
    refreshed(trips)
    (first,) = Run(trips.spec_file).events()
    assert (first["data_version"], first["updated"]) == (trips.version(), 1)
    told = [SimpleNamespace(extra=None), SimpleNamespace(extra=first)]
    assert Run(trips.spec_file, told).events() == []
    # Versions that change no row are followed here, and are no news.
    DeltaTable(trips.data).alter.set_table_properties({"delta.checkpointInterval": "7"})
    run = Run(trips.spec_file, told)
    assert run.events() == []
    assert run.told[SUMMARY] == {
        "said": f"state: stands at version {trips.version()} of the data table: nothing new",
        "data_version": trips.version(),
    }
    before = [SimpleNamespace(extra={**first, "state_version": 0})]
    (since,) = Run(trips.spec_file, before).events()
    assert (since["inserted"], since["updated"]) == (2, 1)
    trips.write_spec(state={**STATE, "order_by": ["seq"]})
    refused = Run(trips.spec_file, told)
    with pytest.raises(AirflowFailException, match=r"StateRefused: .*sluice rebuild trips"):
        refused.events()
    assert refused.told[SUMMARY]["said"].startswith("failed: StateRefused")
