"""The stored start: its texts never change, and what was stored reads as what it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.positions.policies import (
    AtCheckpoint,
    AtGroup,
    AtMoment,
    AtOffsets,
    BehindDeltaIngest,
    Earliest,
    Latest,
)
from sluice.positions.stored_start import KnownStart, UnknownStart, format_start, parse_start

from tests.unit.builders import partition

# As they stand in offsets tables. Never edit one: add a form, and keep reading these.
STORED = [
    ("start: earliest", Earliest()),
    ("start: latest", Latest()),
    (
        "start: timestamp 2013-01-01T00:00:00.000000Z",
        AtMoment(datetime(2013, 1, 1, tzinfo=UTC)),
    ),
    (
        "start: timestamp 2026-11-01T06:07:08.000009Z",
        AtMoment(datetime(2026, 11, 1, 6, 7, 8, 9, tzinfo=UTC)),
    ),
    ("start: timestamp 999-01-01T00:00:00.000000Z", AtMoment(datetime(999, 1, 1, tzinfo=UTC))),
    ("start: offsets {}", AtOffsets({})),
    (
        "start: offsets {'delays': {0: 3}, 'flights': {0: 12, 1: 0}}",
        AtOffsets({partition(1): 0, partition(0): 12, partition(0, "delays"): 3}),
    ),
    ("start: group hourly_report", AtGroup("hourly_report")),
    ("start: group of: several words", AtGroup("of: several words")),
    ("start: checkpoint /data/old/checkpoint", AtCheckpoint("/data/old/checkpoint")),
    ("start: checkpoint s3a://old/check point", AtCheckpoint("s3a://old/check point")),
    ("start: delta_ingest /data/old/flights", BehindDeltaIngest("/data/old/flights")),
    (
        "start: delta_ingest /data/old/flights, app id ingest",
        BehindDeltaIngest("/data/old/flights", "ingest"),
    ),
    (
        "start: delta_ingest /data/old/flights, topic flights",
        BehindDeltaIngest("/data/old/flights", topic="flights"),
    ),
    (
        "start: delta_ingest /data/old/flights, app id in gest, topic flights",
        BehindDeltaIngest("/data/old/flights", "in gest", "flights"),
    ),
]


@pytest.mark.parametrize(("text", "start"), STORED, ids=lambda case: str(case)[:40])
def test_what_was_stored_reads_as_it_was_meant_and_is_written_the_same(
    text: str, start: KnownStart
) -> None:
    assert parse_start(text) == start
    assert format_start(start) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "earliest",
        "start: ",
        "start: earliest ",
        "start: latest again",
        "start: timestamp 2013-01-01",
        "start: timestamp 2013-02-30T00:00:00.000000Z",
        "start: offsets [1]",
        "start: offsets {'flights': 3}",
        "start: offsets {'flights': {'0': 3}}",
        "start: offsets {'flights': {0: -3}}",
        "start: offsets {'flights': {0: True}}",
        "start: offsets exit()",
        "start: group",
        "start: somewhere else",
    ],
)
def test_an_unknown_text_is_kept_as_it_is(text: str) -> None:
    assert parse_start(text) == UnknownStart(text)
    assert format_start(UnknownStart(text)) == text


words = st.text(min_size=1)
names = st.text(min_size=1).filter(lambda text: ", " not in text)
moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)).flatmap(
    lambda moment: st.integers(-12, 14).map(
        lambda hours: moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    )
)
starts = st.one_of(
    st.sampled_from([Earliest(), Latest()]),
    st.builds(AtMoment, moments),
    st.builds(
        AtOffsets,
        st.dictionaries(
            st.builds(partition, st.integers(0, 2**31 - 1), words), st.integers(0, 2**63 - 1)
        ),
    ),
    st.builds(AtGroup, words),
    st.builds(AtCheckpoint, words),
    st.builds(BehindDeltaIngest, names, st.none() | names, st.none() | names),
)


@given(starts)
def test_every_start_is_read_back_as_itself(start: KnownStart) -> None:
    assert parse_start(format_start(start)) == start


@given(st.text() | st.text().map("start: {}".format) | starts.map(format_start))
def test_every_text_is_written_back_as_itself(text: str) -> None:
    assert format_start(parse_start(text)) == text
