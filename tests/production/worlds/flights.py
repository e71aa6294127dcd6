"""The flights of the demo, as docker-compose.yml is to land them, whoever runs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import yaml
from deltalake import DeltaTable

from local.demo.flights import create_flights_topic
from local.embedded.airflow_client import AirflowClient
from local.embedded.airflow_processes import ROOT
from tests.oracle import assert_exact, judge_state
from tests.worlds.state_rules import rules_of

SCHEDULERS = ("airflow-scheduler-1", "airflow-scheduler-2")
_SPEC = yaml.safe_load((ROOT / "dags" / "pipelines" / "flights.yaml").read_text("utf-8"))


@contextmanager
def expecting_flights(client: AirflowClient, bootstrap: str) -> Iterator[AirflowClient]:
    """Airflow, signed in, which knows the DAG; the topic is there."""
    with closing(client):
        client.wait_for_dag("flights")
        create_flights_topic(bootstrap)
        yield client


def assert_landed(bootstrap: str, warehouse: Path, flights: int) -> None:
    """So many rows, and the oracle finds nothing, in the state table neither."""
    assert DeltaTable(str(warehouse / "flights")).to_pyarrow_dataset().count_rows() == flights
    where = (bootstrap, warehouse, "flights", "flights", ["flights"])
    form = {"fmt": "json", "schema": _SPEC["format"]["schema"], "decode_at_most": 2_000}
    verdict = assert_exact(*where, **form, group=_SPEC["consumer_group"])
    assert verdict.facts.rows == flights
    rules = rules_of(_SPEC, warehouse / "flights")
    assert judge_state(warehouse, "flights", "flights", rules) == []
