"""Links: from the tasks of a run to the pages of its pipeline and of its batch."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from airflow.sdk import DAG
from airflow.serialization.serialized_objects import DagSerialization
from sluice.airflow import PipelineTasks
from sluice.offsets.batches import BatchReference, BatchSequence
from sluice.scheduling.links import BatchLink, PipelineLink

NAMES = {"Pipeline in Kafka offsets", "Batch"}
SEQUENCE = BatchSequence("flights", "backfill", 2)


@pytest.fixture
def flights(write_spec, parse):
    write_spec("flights")
    return parse().dags["flights"]


def ended(reference):
    """The task instance of an ended task; its run's plan has left this."""
    return SimpleNamespace(xcom_pull=lambda task_ids: {"plan": reference}[task_ids])


@pytest.mark.parametrize("task_id", ["plan", "ingest", "settle"])
def test_each_task_has_both_links_also_where_the_dag_is_read_from_the_database(flights, task_id):
    stored = DagSerialization.from_dict(DagSerialization.to_dict(flights))
    assert set(stored.get_task(task_id).extra_links) >= NAMES


@pytest.mark.parametrize(
    ("base", "below"),
    [("", ""), ("https://airflow.example", ""), ("https://data.example/airflow/", "/airflow")],
)
def test_links_lead_to_the_web_server_wherever_it_is_served(flights, monkeypatch, base, below):
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", base)
    plan = flights.get_task("plan")
    assert (
        PipelineLink("flights").get_link(plan, ti_key=ended(None))
        == f"{below}/sluice/pipelines/flights"
    )
    work = BatchReference(SEQUENCE, range(4, 7)).as_dict()
    at = f"{below}/sluice/pipelines/flights/batches/backfill-2-6"
    assert BatchLink().get_link(plan, ti_key=ended(work)) == at


@pytest.mark.parametrize("left", [None, "", BatchReference(SEQUENCE).as_dict()])
def test_a_run_without_a_batch_has_no_link_to_one(flights, left):
    assert BatchLink().get_link(flights.get_task("settle"), ti_key=ended(left)) == ""


def test_the_links_of_a_group_lead_to_its_own_pipeline(write_spec, specs):
    write_spec("flights")
    with DAG("another", schedule=None):
        _, _, settle = PipelineTasks("flights", specs, group_id="first")
    to_pipeline, to_batch = settle.operator_extra_links
    work = BatchReference(SEQUENCE, range(4, 7)).as_dict()
    left = SimpleNamespace(xcom_pull=lambda task_ids: {"first.plan": work}[task_ids])
    assert to_pipeline.get_link(settle, ti_key=left) == "/sluice/pipelines/flights"
    assert to_batch.get_link(settle, ti_key=left).endswith("/batches/backfill-2-6")
