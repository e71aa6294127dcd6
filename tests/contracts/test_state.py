"""The port `StateLake`: Spark's and the written one leave the same, and refuse the same."""

from __future__ import annotations

import pytest

from tests.contracts.stage import on_spark, written
from tests.contracts.state_stage import StateStage
from tests.contracts.state_stories import STORIES
from tests.worlds.pipelines import Pipelines, Topic

pytestmark = pytest.mark.integration


@pytest.mark.spark
@pytest.mark.parametrize("name", STORIES)
def test_both_lakes_leave_the_same_state(topic: Topic, pipeline: Pipelines, name: str) -> None:
    keys, play = STORIES[name]
    stages = [
        StateStage(trips, lake(trips).open_engine)
        for lake in (on_spark, written)
        for trips in [pipeline(topic(2, retention_ms=-1), **keys)]
    ]
    for each in stages:
        play(each)
    spark, own = (each.observed() for each in stages)
    assert own == spark
