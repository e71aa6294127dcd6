"""A run's summary is read after the step is done: what cannot be read fails no step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sluice.broker.cluster import KafkaCluster, TopicSelection
from sluice.offsets.batches import BatchReference
from sluice.offsets.partition_log import KafkaState
from sluice.pipeline import Pipeline, open_pipeline
from sluice.protocol.settle.write_receipts import Settlement
from sluice.settings import Settings
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import sequence
from tests.unit.operations.quarantine.test_drop import RAW

WORK = BatchReference(sequence(), range(7, 9))


@pytest.fixture
def unreadable(tmp_path: Path) -> Pipeline:
    """A pipeline whose offsets table cannot be read any more."""
    log = tmp_path / "trips__offsets" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("no commit", encoding="utf-8")
    settings = Settings(warehouse=str(tmp_path), pipelines=tmp_path)
    no_broker = {"bootstrap.servers": "127.0.0.1:1", "socket.timeout.ms": 1000}
    return open_pipeline(PipelineSpec.model_validate(RAW), settings, no_broker)


def test_a_plan_is_told_by_its_batches_where_its_ranges_cannot_be_read(
    unreadable: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    assert unreadable.summarize_plan(WORK) == {
        "said": "forward-1-7 … forward-1-8 (2 batches): the ranges are unknown",
        "batches": 2,
    }
    nothing = unreadable.summarize_plan(BatchReference(sequence()))
    assert nothing == {"said": "nothing new: the cursor is unknown", "batches": 0}
    assert {each.levelname for each in caplog.records} == {"WARNING"}
    assert "trips: the plan's ranges are unknown: " in "\n".join(caplog.messages)


class Odd(KafkaCluster):
    """A cluster whose answer is none that we know."""

    def state(self, selection: TopicSelection) -> KafkaState:
        raise TypeError("an answer that nobody expected")


def test_a_settlement_is_told_without_the_lag_whatever_keeps_it_unknown(
    unreadable: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    odd = replace(unreadable.resources, kafka=Odd(unreadable.resources.client))
    said = replace(unreadable, resources=odd).summarize_settlement(Settlement())
    assert said == {"said": "nothing to settle; lag left unknown", "batches": 0, "lag": None}
    told = "trips: the lag is unknown: TypeError: an answer that nobody expected"
    assert told in "\n".join(caplog.messages)
