"""A receipt that the offsets table cannot take: settle says why, and soon."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sluice.errors import TableRefused

from tests.worlds.pipelines import Pipelines, Topic, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def change_protocol(log: Path, **protocol: object) -> None:
    """As another writer does that knows more table features than delta-rs."""
    number = DeltaTable(log.parent).version() + 1
    lines = [{"commitInfo": {"timestamp": 0}}, {"protocol": {"minReaderVersion": 1, **protocol}}]
    (log / f"{number:020d}.json").write_text("\n".join(map(json.dumps, lines)))


def test_a_table_feature_ends_settle_and_plan_by_its_name(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    more(trips, 5)
    trips.ingest(trips.plan())
    (log,) = (each for each in trips.warehouse.rglob("_delta_log") if "offsets" in str(each))
    change_protocol(log, minWriterVersion=7, writerFeatures=["appendOnly", "domainMetadata"])
    more(trips, 5, 5)
    started = time.monotonic()
    for step in (trips.settle, trips.plan):
        with pytest.raises(TableRefused, match=r"domainMetadata.*DROP FEATURE"):
            step()
    assert time.monotonic() - started < 15
    # DROP FEATURE, as the message says.
    change_protocol(log, minWriterVersion=2)
    assert len(trips.settle().receipts) == 1
    trips.run()
    assert trips.judge().facts.rows == 10
