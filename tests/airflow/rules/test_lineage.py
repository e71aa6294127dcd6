"""Lineage: names as OpenLineage wants them, what is unknown left out, and no schema made up."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from openlineage.client.serde import Serde
from sluice.offsets.batches import BatchReference, BatchSequence
from sluice.protocol.ingest.landed import LandedBatch
from sluice.scheduling.lineage import Landed, lineage_of, read_for_lineage

from tests.unit.builders import TOPIC_ID, batch, offsets

FIRST = LandedBatch(batch(offsets(0, 5), offsets(7, 7, 1), number=1), 3, 5)
SECOND = LandedBatch(batch(offsets(5, 9), offsets(7, 8, 1), number=2), 4, 5)


def told(
    *batches: LandedBatch, table: str = "/data/flights", bootstrap: str = "kafka-1:9092"
) -> tuple[Any, Any]:
    found = lineage_of(Landed(bootstrap, table, batches))
    return Serde.to_dict(found.inputs[0]), Serde.to_dict(found.outputs[0])


def test_every_range_that_was_read_is_told_with_its_batch():
    topic, table = told(FIRST, SECOND)
    facet = topic["inputFacets"]["sluice_offsets"]
    assert [
        (each["batch"], each["partition"], each["startOffset"], each["endOffset"])
        for each in facet["offsetRanges"]
    ] == [("forward-1-1", 0, 0, 5), ("forward-1-2", 0, 5, 9), ("forward-1-2", 1, 7, 8)]
    assert {each["topicId"] for each in facet["offsetRanges"]} == {TOPIC_ID}
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 10
    assert table["facets"]["version"]["datasetVersion"] == "4"


def test_the_facet_claims_no_schema_but_the_standard_one():
    topic, _ = told(FIRST)
    schema = topic["inputFacets"]["sluice_offsets"]["_schemaURL"]
    assert schema.startswith("https://openlineage.io/spec/")
    assert schema.endswith("#/$defs/InputDatasetFacet")


@pytest.mark.parametrize(
    ("bootstrap", "cluster"),
    [
        ("kafka-1:9092, kafka-2:9092", "kafka://kafka-1:9092"),
        ("[::1]:9092", "kafka://[::1]:9092"),
    ],
)
def test_the_first_broker_names_the_cluster(bootstrap, cluster):
    topic, _ = told(FIRST, bootstrap=bootstrap)
    assert (topic["namespace"], topic["name"]) == (cluster, "flights")


def test_a_table_in_a_bucket_has_the_buckets_name():
    _, table = told(FIRST, table="s3a://lake/warehouse/flights")
    assert (table["namespace"], table["name"]) == ("s3://lake", "warehouse/flights")


def test_rows_that_the_table_no_longer_tells_are_unknown_and_not_zero():
    _, table = told(FIRST, LandedBatch(SECOND.batch, None, None))
    assert "rowCount" not in table["outputFacets"]["outputStatistics"]
    assert "version" not in table["facets"]


def test_of_an_ingest_that_has_not_succeeded_nothing_is_told():
    assert not lineage_of(None).outputs
    assert not lineage_of(Landed("kafka-1:9092", "/data/flights", ())).inputs


UNREADABLE = """
from sluice.scheduling.lineage import read_for_lineage
assert read_for_lineage(None, "forward-1-1") is None
"""


def test_without_the_provider_nothing_is_read_and_nothing_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "airflow.providers.openlineage.conf", None)
    pipeline: Any = None
    work = BatchReference(BatchSequence("flights", "forward", 1), range(1, 2))
    assert read_for_lineage(pipeline, work) is None
    assert caplog.messages == []


@pytest.mark.patient
def test_an_ingest_stays_done_whatever_keeps_its_lineage_from_being_read():
    told = {**os.environ, "AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "console"}'}
    done = subprocess.run(
        [sys.executable, "-c", UNREADABLE], env=told, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "forward-1-1: no lineage is reported: AttributeError: " in done.stderr + done.stdout
