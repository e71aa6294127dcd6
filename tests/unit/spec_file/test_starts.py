"""A spec's `start` is read in all its forms, and turned into the position that it names."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from sluice.positions.names import STARTS
from sluice.positions.policies import (
    AtCheckpoint,
    AtGroup,
    AtMoment,
    AtOffsets,
    BehindDeltaIngest,
    Earliest,
    Latest,
)
from sluice.positions.stored_start import format_start
from sluice.spec_file.starts import (
    DeltaIngest,
    StartCheckpoint,
    StartDeltaIngest,
    StartEarliest,
    StartGroup,
    StartLatest,
    StartOffsets,
    StartTimestamp,
    named_start,
)

from tests.unit.builders import partition, spec

CHECKPOINT = StartCheckpoint(checkpoint="/old/checkpoint")
INGESTED = StartDeltaIngest(delta_ingest=DeltaIngest(table="/old/table", app_id="app"))


def test_a_start_is_written_the_same_way_whatever_the_order_of_its_keys() -> None:
    one = StartOffsets(offsets={"a": {0: 1, 1: 2}, "b": {0: 3}})
    other = StartOffsets(offsets={"b": {0: 3}, "a": {1: 2, 0: 1}})
    assert format_start(one.position) == format_start(other.position)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("earliest", StartEarliest()),
        ("latest", StartLatest()),
        ({"group": "old"}, StartGroup(group="old")),
        ({"offsets": {"flights": {0: 12}}}, StartOffsets(offsets={"flights": {0: 12}})),
        ({"checkpoint": "/old/checkpoint/"}, CHECKPOINT),
        ({"delta_ingest": {"table": "/old/table", "app_id": "app"}}, INGESTED),
    ],
    ids=str,
)
def test_a_start_is_read_from_a_spec(written: Any, expected: object) -> None:
    assert spec(start=written).start == expected


@pytest.mark.parametrize(
    "written",
    [
        datetime(2013, 1, 1, tzinfo=UTC),
        datetime(2013, 1, 1),
        date(2013, 1, 1),
        "2013-01-01",
        "2013-01-01T00:00:00",
        "2013-01-01T00:00:00Z",
        "2013-01-01T02:00:00+02:00",
        datetime(2013, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
    ],
    ids=str,
)
def test_a_moment_is_utc_unless_it_says_otherwise(written: object) -> None:
    found = spec(start={"timestamp": written}).start
    assert isinstance(found, StartTimestamp)
    assert found.timestamp == datetime(2013, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("other", ["Earliest", "", 5, None, {"group": "g"}, ["earliest"]], ids=repr)
def test_only_the_two_words_are_words(other: object) -> None:
    assert named_start(other) is other


MOMENT = datetime(2013, 1, 1, tzinfo=UTC)
POSITIONS = {
    "earliest": ("earliest", Earliest()),
    "latest": ("latest", Latest()),
    "timestamp": ({"timestamp": "2013-01-01"}, AtMoment(MOMENT)),
    "offsets": ({"offsets": {"flights": {0: 12}}}, AtOffsets({partition(): 12})),
    "group": ({"group": "old"}, AtGroup("old")),
    "checkpoint": ({"checkpoint": "/old/checkpoint/"}, AtCheckpoint("/old/checkpoint")),
    "delta_ingest": (
        {"delta_ingest": {"table": "/old/table/", "app_id": "app", "topic": "delays"}},
        BehindDeltaIngest("/old/table", "app", "delays"),
    ),
}


@pytest.mark.parametrize("key", [each.key for each in STARTS])
def test_every_name_of_a_start_is_read_as_its_position(key: str) -> None:
    written, expected = POSITIONS[key]
    assert spec(start=written).start.position == expected
