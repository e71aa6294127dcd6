"""Written forms: what people and Kafka's own tool write is read; anything else is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sluice.offsets import notation
from sluice.offsets.notation import (
    Scope,
    parse_batch,
    parse_duration,
    parse_moment,
    parse_positions,
    parse_positions_file,
    parse_range,
    parse_scope,
    parse_shift,
)
from sluice.offsets.ranges import TopicPartition

FLIGHTS = [TopicPartition("flights", number) for number in range(3)]


def test_positions_are_topic_partition_and_offset() -> None:
    found = parse_positions(["flights[0]=120", " flights[2]=0 "])
    assert found == {FLIGHTS[0]: 120, FLIGHTS[2]: 0}
    assert parse_positions(["my.topic-1_x[7]@9"], "@") == {TopicPartition("my.topic-1_x", 7): 9}


@pytest.mark.parametrize(
    "text",
    ["flights=120", "flights[0]", "flights[0]@1", "flights[0]=-1", "flights[x]=1", "[0]=1", ""],
)
def test_what_is_no_position_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a position; expected for example flights\[0\]=120"):
        parse_positions([text])


@pytest.mark.parametrize(
    "text", [f"flights[{10**9}] [0, 5)", f"flights[0] [0, {10**18})", f"{'x' * 250}[0] [0, 5)"]
)
def test_a_range_has_numbers_that_kafka_can_have(text: str) -> None:
    with pytest.raises(ValueError, match="is not an offset range"):
        parse_range(text)


@pytest.mark.parametrize("text", [f"forward-{10**9}-1", f"backfill-1-{10**18}"])
def test_a_batch_has_numbers_that_the_tables_can_hold(text: str) -> None:
    with pytest.raises(ValueError, match="is not a batch"):
        parse_batch("flights", text)


def test_a_position_is_given_once() -> None:
    with pytest.raises(ValueError, match=r"flights\[0\] is given twice: 1 and 2"):
        parse_positions(["flights[0]=1", "flights[0]=2"])
    with pytest.raises(ValueError, match="no position"):
        parse_positions([])


def test_a_file_is_as_kafkas_tool_exports_it() -> None:
    found = parse_positions_file('"flights",0,120\nflights, 1, 7\r\n\n')
    assert found == {FLIGHTS[0]: 120, FLIGHTS[1]: 7}


@pytest.mark.parametrize("line", ["group,flights,0,120", "topic,partition,offset", "flights,0,-1"])
def test_a_line_of_another_form_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2: .* expected for example flights,0,120"):
        parse_positions_file(f"flights,0,1\n{line}\n")


def test_a_scope_is_a_topic_or_some_of_its_partitions() -> None:
    whole, some = parse_scope("flights"), parse_scope("flights:0,2")
    assert [each in whole for each in FLIGHTS] == [True, True, True]
    assert [each in some for each in FLIGHTS] == [True, False, True]
    assert TopicPartition("others", 0) not in whole
    assert (whole.named, some.named) == ([], [FLIGHTS[0], FLIGHTS[2]])
    assert (str(whole), str(some)) == ("flights", "flights:0,2")
    for text in ("flights:", "flights:a", "flights:1,", "a b", ""):
        with pytest.raises(ValueError, match="not a topic"):
            parse_scope(text)
    assert parse_scope("x:2,2") == Scope("x", frozenset({2}))


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-11-01T06:00:00.000", 6),
        ("2026-11-01T06:00:00Z", 6),
        ("2026-11-01T06:00:00+02:00", 4),
        ("2026-11-01", 0),
    ],
)
def test_a_moment_is_in_utc_unless_it_says_otherwise(text: str, hour: int) -> None:
    assert parse_moment(text) == datetime(2026, 11, 1, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT1H", timedelta(hours=1)),
        ("P1DT2H30M", timedelta(days=1, hours=2, minutes=30)),
        ("P7D", timedelta(days=7)),
        ("PT0.5S", timedelta(milliseconds=500)),
        ("PT0S", timedelta()),
        (" P1D ", timedelta(days=1)),
        ("PT90M0.000001S", timedelta(minutes=90, microseconds=1)),
    ],
)
def test_a_duration_is_of_days_hours_minutes_and_seconds(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("P", "PT", "P1DT", "P1M", "P1Y", "1H", "PT-1H", "-PT1H", "PT1H2"),
        *("", "P1W", "1D", "1 day", "12:30:00", "3600", "+P1D", "P1DT1M1H", "P1D2D", "PT1.5H"),
        *("PT1,5S", "PT1.S", "P1YT1H", "p1d", "P9999999D"),
    ],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration; expected for example PT1H"):
        parse_duration(text)


def test_a_shift_is_a_number_with_or_without_a_sign() -> None:
    assert [parse_shift(each) for each in ("5", "+5", "-500", "0")] == [5, 5, -500, 0]
    for text in ("", "1.5", "five", "- 5", "1_000"):
        with pytest.raises(ValueError, match="not a number of offsets"):
            parse_shift(text)


def test_what_is_no_moment_is_refused() -> None:
    with pytest.raises(ValueError, match="not a moment"):
        parse_moment("yesterday")


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("TOPIC", r"^[A-Za-z0-9._-]{1,249}$"),
        (
            "MOMENT",
            r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$",
        ),
    ],
)
def test_a_form_lets_pass_what_it_always_did(name: str, pattern: str) -> None:
    """Schemas are part of an interface: specs hold such names, and scripts trigger runs."""
    assert getattr(notation, name) == pattern
