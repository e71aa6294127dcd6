"""Many topics, a table each: a DAG for each found topic, and a task that finds them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import CronDataIntervalTimetable
from airflow.sdk.exceptions import AirflowFailException
from sluice.errors import BrokerUnavailable
from sluice.scheduling.deployment import deployed_fleet
from sluice.scheduling.page.clusters import deployed_clusters
from sluice.scheduling.topics import find_in
from sluice.scheduling.watch import watch_in

from local.embedded.ports import free_port
from tests.airflow.rules.test_dags import CHEAP, PROJECT
from tests.worlds.recipes import PAGE

DAG = "sluice_topics"
Found = Callable[..., None]


@pytest.fixture
def template(write_spec: Callable[..., Path]) -> Path:
    return write_spec(
        "{topic}", file="all.yaml", topics=None, topic_pattern=r"orders[.-].*", schedule=None
    )


@pytest.fixture
def found(template: Path) -> Found:
    """`found("orders.eu", left_out=[…])`: what a look has kept."""

    def keep(*topics: str, left_out: tuple[str, ...] = ()) -> None:
        known = {"version": 1, "pipelines": [*topics], "left_out": [*left_out]}
        template.with_name("all.yaml.topics.json").write_text(json.dumps(known))

    return keep


def test_each_found_topic_is_a_dag_that_is_switched_on_and_names_template_and_topic(
    write_spec, found, parse
):
    write_spec("flights")
    found("orders.eu", "orders.us-west")
    bag = parse()
    assert not bag.import_errors
    made = {name for name in bag.dags if name.startswith("orders")}
    assert made == {"orders_eu", "orders_us_west"}
    dag = bag.dags["orders_us_west"]
    assert "- Topics: `orders.us-west`" in dag.doc_md
    assert "- Spec: `pipelines/all.yaml (topic orders.us-west)`" in dag.doc_md
    assert dag.is_paused_upon_creation is False
    assert bag.dags["flights"].is_paused_upon_creation is None
    maintained = bag.dags["sluice_maintenance"].task_ids
    assert {"maintain_orders_eu", "maintain_orders_us_west"} <= {*maintained}


def test_without_a_template_nothing_looks_for_topics(write_spec, parse):
    write_spec("flights")
    assert DAG not in parse().dags


def test_before_the_first_look_there_is_the_dag_that_looks(template, parse):
    bag = parse()
    assert not bag.import_errors
    assert {*bag.dags} == {DAG, "sluice_watch"}
    dag = bag.dags[DAG]
    assert isinstance(dag.timetable, CronDataIntervalTimetable)
    assert (dag.catchup, dag.max_active_runs) == (False, 1)
    (task,) = dag.tasks
    assert task.retries == 2
    assert task.execution_timeout is not None
    (recipe,) = re.findall(r"/sluice/handbook/operations#([a-z-]+)\)", dag.doc_md)
    assert recipe == "many-topics-a-table-each"
    assert "\n## Many topics, a table each\n" in PAGE.read_text(encoding="utf-8")


@pytest.mark.patient
def test_parsing_found_topics_loads_no_client_of_a_broker(found):
    found("orders.eu", "orders.us")
    script = CHEAP.format(file=str(PROJECT / "dags/kafka_to_delta.py"))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "sluice" in loaded
    assert not loaded & {"confluent_kafka", "aiokafka", "pyspark", "deltalake", "pyarrow"}


def test_topics_without_a_pipeline_are_told_wherever_refused_specs_are(found, specs, parse):
    found("orders.eu", left_out=("orders-eu",))
    told = "all.yaml: topic orders-eu: found the name 'orders_eu', which the topic orders.eu"
    bag = parse()
    assert "orders_eu" in bag.dags
    assert told in bag.import_errors["refused_specs.py"]
    assert [told in str(each) for each in deployed_fleet(specs).refused.values()] == [True]
    assert deployed_clusters()().refused == 1
    with pytest.raises(AirflowFailException, match=re.escape(told)):
        watch_in(specs)()


def task(bundle: Path, version: str | None = None) -> Any:
    """A task's instance, whose DAG comes from this bundle."""
    return SimpleNamespace(bundle_instance=SimpleNamespace(path=bundle, version=version))


def connect(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": address}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))


REFUSED = {"format": {"type": "json", "schema": "id STRING"}, "only": {"where": "id > 0"}}


def test_a_mistake_in_the_only_template_leaves_the_dag_whose_task_tells_it(
    write_spec, specs, parse
):
    write_spec("{topic}", file="bad.yaml", topics=None, topic_pattern="orders.*", **REFUSED)
    assert {*parse().dags} == {DAG, "sluice_watch"}
    with pytest.raises(AirflowFailException, match=r"SpecError: .*bad\.yaml: only\.where: "):
        find_in(specs)(ti=task(specs))


@pytest.mark.integration
def test_the_task_keeps_what_it_finds_and_then_tells_what_it_refused(
    write_spec, specs, parse, monkeypatch, broker, topic, caplog
):
    prefix = topic()
    connect(monkeypatch, broker.bootstrap)
    pattern = rf"{prefix}[.-].*"
    write_spec("{topic}", file="all.yaml", topics=None, topic_pattern=pattern)
    name = prefix.replace("-", "_")
    find = find_in(specs)
    find(ti=task(specs))
    assert name not in str(parse().dags)

    topic(name=f"{prefix}.eu")
    with pytest.raises(
        AirflowFailException, match=r"SettingsError(.|\n)*new: topic .*\.eu(.|\n)*4a"
    ):
        find(ti=task(specs.parent, "4a"))
    assert f"{name}_eu" not in parse().dags, "what is written to a copy is lost"
    caplog.set_level("INFO", "sluice.scheduling.topics")
    # The setting may name a folder outside of the bundle.
    find(ti=task(specs.parent / "bundle", "4a"))
    assert f"all.yaml: new: topic {prefix}.eu; a pipeline each" in caplog.text
    assert f"{name}_eu" in parse().dags

    for each in ("us", "a-b", "a.b"):
        topic(name=f"{prefix}.{each}")
    write_spec("{topic}", file="bad.yaml", topics=None, topic_pattern=pattern, **REFUSED)
    with pytest.raises(AirflowFailException, match=rf"topics {prefix}\.a-b, .*a\.b:") as failed:
        find(ti=task(specs))
    assert re.search(r"SpecError: .*bad\.yaml: only\.where: ", str(failed.value))
    assert f"{name}_us" in parse().dags


@pytest.mark.patient
def test_a_broker_that_is_down_is_tried_again(template, found, specs, monkeypatch, parse):
    found("orders.eu")
    connect(monkeypatch, f"127.0.0.1:{free_port()}")
    with pytest.raises(BrokerUnavailable):
        find_in(specs)(ti=task(specs))
    assert "orders_eu" in parse().dags
