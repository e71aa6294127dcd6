"""Rows of the quarantine: which are chosen, how they group, what a drop of them records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.error_groups import group_errors
from sluice.offsets.loss_causes import parse_cause
from sluice.offsets.quarantined import (
    QuarantinedRecord,
    RecordFilter,
    RecordState,
    batch_offsets,
    error_pattern,
)
from sluice.operations.quarantine.drop import decide_drop
from sluice.protocol.ingest.budget import QuarantineRatio

from tests.unit.builders import CLUSTER, TOPIC_ID, offsets, partition, sequence

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)

NO_USE = parse_cause("dropped from quarantine by me: no use")


def row(
    offset: int,
    *,
    number: int = 0,
    batch: str = "forward-1-1",
    error: str = 'id: expected BIGINT, found "x"',
    state: RecordState = RecordState.LIVE,
) -> QuarantinedRecord:
    at = NOON + timedelta(minutes=offset)
    return QuarantinedRecord(partition(number), offset, TOPIC_ID, batch, error, at, state)


def test_consecutive_offsets_of_a_batch_are_one_stretch() -> None:
    rows = [row(5), row(3), row(4), row(7), row(4, number=1), row(6, batch="forward-1-2")]
    assert [(each.batch, each.offsets) for each in batch_offsets(rows)] == [
        ("forward-1-1", offsets(3, 6)),
        ("forward-1-1", offsets(7, 8)),
        ("forward-1-1", offsets(4, 5, 1)),
        ("forward-1-2", offsets(6, 7)),
    ]


@given(st.sets(st.integers(0, 40)))
def test_stretches_hold_the_rows_and_nothing_else(chosen: set[int]) -> None:
    found = [each.offsets for each in batch_offsets(map(row, chosen))]
    assert {at for each in found for at in range(each.start, each.end)} == chosen
    assert all(earlier.end < later.start for earlier, later in pairwise(found))


def test_a_choice_narrows_by_all_that_is_given() -> None:
    rows = [row(1), row(2, error="not strict UTF-8"), row(3, batch="forward-1-2")]

    def chosen(**choice: Any) -> list[int]:
        return [each.offset for each in rows if each in RecordFilter(**choice)]

    assert chosen() == [1, 2, 3]
    assert chosen(reason_like="bigint") == [1, 3]
    assert chosen(reason_like="BIGINT", batch="forward-1-2") == [3]
    assert chosen(positions=[(partition(), 2), (partition(1), 1)]) == [2]


def test_a_reason_is_found_as_the_list_shows_it() -> None:
    error = "no schema id: expected the byte 0 and an id, or a header, found 0x7b7d"
    (shown,) = group_errors([row(1, error=error)])
    assert shown.text == "no schema id: expected the byte 0 and an id, or a header, found N"
    assert row(1, error=error) in RecordFilter(reason_like=shown.text)
    assert row(1, error=error) in RecordFilter(reason_like="the byte 0")
    assert row(1) not in RecordFilter(reason_like=shown.text)


def test_a_drop_records_live_rows_only_and_completes_an_interrupted_one() -> None:
    rows = [
        row(1),
        row(2),
        row(4, state=RecordState.WAITING),
        row(5, state=RecordState.SUPERSEDED),
        row(6, state=RecordState.DROPPED),
    ]
    found = decide_drop(sequence(), CLUSTER, rows, rows, NO_USE)
    assert [(each.offsets, each.dropped_from) for each in found.losses] == [
        (offsets(1, 3), "forward-1-1")
    ]
    assert [each.offsets for each in found.rows] == [offsets(1, 3), offsets(6, 7)]
    assert {str(each.cause) for each in found.losses} == {"dropped from quarantine by me: no use"}


def test_a_drop_of_nothing_records_nothing() -> None:
    found = decide_drop(sequence(), CLUSTER, [row(4, state=RecordState.WAITING)], [], NO_USE)
    assert (found.chosen, found.losses, found.rows) == ((), (), ())


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ('id: expected BIGINT, found "x"', "id: expected BIGINT, found '…'"),
        ("price_2: expected DECIMAL(5,2), found 1.505", "price_2: expected DECIMAL(5,2), found N"),
        ("expected 12 bytes at offset 345, found 7", "expected N bytes at offset N, found N"),
        ("unknown schema id 0x1f", "unknown schema id N"),
        ("""field 'colour' is "red" """, "field '…' is '…'"),
        ("can't read it", "can't read it"),
        ("-5 is out of range", "N is out of range"),
    ],
)
def test_equal_causes_have_equal_reasons(error: str, reason: str) -> None:
    assert error_pattern(error) == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            "not one JSON object: expected , or }, found } at byte 12",
            "not one JSON object: expected , or }, found } at byte N",
        ),
        (
            "not one JSON object: found a JSON number. The one column `value` would take it",
            "not one JSON object: found a JSON number. The one column `value` would take it",
        ),
        (
            "not one JSON object: found NaN at byte 7",
            "not one JSON object: found NaN at byte N",
        ),
        (
            "not strict UTF-8: byte 0xe9 at 14; ISO-8859-1 text?",
            "not strict UTF-8: byte N at N; ISO-8859-1 text?",
        ),
        (
            "name: expected a length, found -1 (the value begins like an Avro single object)",
            "name: expected a length, found N (the value begins like an Avro single object)",
        ),
        (
            'a: expected text in UTF-8, found bytes "C3" (the value begins like gzip)',
            "a: expected text in UTF-8, found bytes '…' (the value begins like gzip)",
        ),
    ],
)
def test_what_a_value_is_stays_and_its_places_go(error: str, reason: str) -> None:
    assert error_pattern(error) == reason


def test_reasons_come_most_frequent_first_with_the_latest_as_a_sample() -> None:
    rows = [row(1), row(2, number=1), row(3, error="not strict UTF-8"), row(4)]
    first, second = group_errors(rows)
    counted = "id: expected BIGINT, found '…'"
    assert (first.text, len(first.rows), first.sample) == (counted, 3, rows[3])
    assert first.partitions == [partition(0), partition(1)]
    assert (first.first_seen, first.last_seen) == (rows[0].quarantined_at, rows[3].quarantined_at)
    assert second.sample == rows[2]


def test_a_ratio_is_of_all_records() -> None:
    assert QuarantineRatio("forward-1-1", 3, 1).ratio == 0.25
    assert QuarantineRatio("forward-1-1", 0, 0).ratio == 0
