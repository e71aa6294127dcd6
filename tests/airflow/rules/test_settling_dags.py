"""The DAGs with a pipeline's tasks, as the page finds them in Airflow's database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from airflow import models, settings
from airflow.models.asset import AssetModel, TaskOutletAssetReference
from airflow.models.base import Base
from airflow.models.dag import DagModel
from airflow.models.dagbundle import DagBundleModel
from sluice.scheduling.assets import asset_name
from sluice.scheduling.page.settling_dags import SettlingDag, pipelines_named, settling_dags
from sqlalchemy import create_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

DAILY = SettlingDag("orders_daily", "orders.")


@pytest.fixture
def database(monkeypatch):
    """`database({"orders_daily": "orders.settle"}, table="orders")` stores DAGs with that task."""
    models.import_all_models()
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    sessions = scoped_session(sessionmaker(engine))
    monkeypatch.setattr(settings, "Session", sessions)

    def stored(
        dags: dict[str, str], table: str, stale: tuple[str, ...] = (), on: tuple[str, ...] = ()
    ) -> None:
        with Session(engine) as session:
            session.merge(DagBundleModel(name="dags-folder"))
            asset = AssetModel(name=asset_name(table), uri=f"file:///{table}")
            session.add(asset)
            session.flush()
            for dag_id, task_id in dags.items():
                is_stale = dag_id in stale
                session.merge(
                    DagModel(
                        dag_id=dag_id,
                        bundle_name="dags-folder",
                        is_stale=is_stale,
                        is_paused=dag_id not in on,
                    )
                )
                session.flush()
                session.add(
                    TaskOutletAssetReference(asset_id=asset.id, dag_id=dag_id, task_id=task_id)
                )
            session.commit()

    yield stored
    sessions.remove()
    engine.dispose()


def spec(pipeline: str) -> Any:
    return SimpleNamespace(pipeline=pipeline, table=pipeline)


def test_a_pipeline_is_in_its_own_dag_and_in_those_of_teams(database):
    database(
        {"a_team": "more.orders.settle", "orders": "settle", "gone": "orders.settle"},
        table="orders",
        stale=("gone",),
    )
    found = settling_dags([spec("orders"), spec("returns")])
    assert found["orders"] == (SettlingDag("orders"), SettlingDag("a_team", "more.orders."))
    assert found["returns"] == (SettlingDag("returns"),), "as long as Airflow knows none"
    assert found["returns"][0].is_own("returns")


def test_the_page_of_a_dag_is_that_of_its_pipeline(database):
    database({"orders_daily": "orders.settle"}, table="orders")
    database({"both": "returns.settle", "returns": "settle"}, table="returns")
    database({"both": "trips.settle"}, table="trips")
    dags = settling_dags(map(spec, ("orders", "returns", "trips")))
    assert pipelines_named("orders_daily", dags) == {"orders": DAILY}
    assert pipelines_named("orders", dags) == {"orders": DAILY}
    assert not DAILY.is_own("orders")
    assert set(pipelines_named("both", dags)) == {"returns", "trips"}
    assert pipelines_named("returns", dags) == {"returns": SettlingDag("returns")}
    assert pipelines_named("another", dags) == {}


def test_a_dag_that_is_paused_is_known_as_such(database):
    database({"orders": "settle", "a_team": "orders.settle"}, table="orders", on=("a_team",))
    found = settling_dags([spec("orders"), spec("returns")])
    assert [(e.dag_id, e.is_paused) for e in found["orders"]] == [
        ("orders", True),
        ("a_team", False),
    ]
    assert not found["returns"][0].is_paused, "Airflow knows none"
    assert found["orders"][0].is_own("orders")
