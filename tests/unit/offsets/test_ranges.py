"""Offset ranges are half-open, and what is cut off one end is left at the other."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.notation import parse_range
from sluice.offsets.ranges import OffsetRange, TopicPartition, merged, span_of, within

from tests.unit.builders import offsets, partition

starts = st.integers(0, 10**12)
spans = st.integers(0, 10**6)


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (-1, 5), (5, 4), (1, 0)])
def test_what_is_no_offset_range_is_refused_by_name(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=rf"flights\[2\] \[{start}, {end}\) is not"):
        offsets(start, end, 2)


@pytest.mark.parametrize(("start", "end", "span"), [(0, 0, 0), (7, 7, 0), (0, 1, 1), (3, 10, 7)])
def test_the_end_is_not_part_of_the_range(start: int, end: int, span: int) -> None:
    assert offsets(start, end).span == span


def test_ranges_are_written_with_their_partition() -> None:
    assert str(partition(3)) == "flights[3]"
    assert str(offsets(5, 9, 3)) == "flights[3] [5, 9)"


def test_ranges_are_values() -> None:
    assert offsets(1, 2) == offsets(1, 2)
    assert len({offsets(1, 2), offsets(1, 2), offsets(1, 3)}) == 2
    with pytest.raises(AttributeError):
        offsets(1, 2).end = 3  # type: ignore[misc]


def test_ranges_sort_by_topic_then_partition_then_start() -> None:
    ordered = [offsets(9, 9, 0, "a"), offsets(0, 1, 2), offsets(4, 5, 2), offsets(0, 1, 10)]
    assert sorted({*ordered}) == ordered


@given(starts, spans, spans)
def test_what_is_taken_and_what_is_left_tile_the_range(start: int, span: int, wanted: int) -> None:
    whole = offsets(start, start + span)
    taken = whole.first(wanted)
    rest = whole.after(taken)
    assert taken.start == whole.start
    assert taken.span == min(wanted, span)
    assert rest.start == taken.end
    assert rest.end == whole.end
    assert taken.span + rest.span == whole.span


@given(st.lists(st.tuples(starts, spans)))
def test_the_span_of_several_ranges_is_the_sum_of_theirs(pairs: list[tuple[int, int]]) -> None:
    ranges = [
        OffsetRange(TopicPartition("t", at), start, start + span)
        for at, (start, span) in enumerate(pairs)
    ]
    assert span_of(ranges) == sum(span for _, span in pairs)


@given(starts, spans, st.integers(0, 999), st.from_regex(r"[A-Za-z0-9._-]+", fullmatch=True))
def test_a_range_reads_back_as_it_is_written(start: int, span: int, at: int, topic: str) -> None:
    written = OffsetRange(TopicPartition(topic, at), start, start + span + 1)
    assert parse_range(str(written)) == written


@pytest.mark.parametrize(
    "text",
    ["", "flights[0]", "flights[0] [5, 8]", "flights [5, 8)", "flights[0] [8, 5)", "a b[0] [5, 8)"],
)
def test_what_is_not_written_like_a_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an offset range"):
        parse_range(text)


def test_an_empty_range_names_nothing() -> None:
    with pytest.raises(ValueError, match="its end is the next offset"):
        parse_range("flights[0] [5, 5)")


PLACES = st.lists(
    st.builds(
        lambda number, start, span: OffsetRange(TopicPartition("t", number), start, start + span),
        *(st.integers(0, most) for most in (1, 12, 4)),
    ),
    max_size=6,
)


def covered(ranges: Iterable[OffsetRange]) -> set[tuple[TopicPartition, int]]:
    return {(each.partition, at) for each in ranges for at in range(each.start, each.end)}


@given(PLACES, PLACES)
def test_within_covers_what_both_cover(some: list[OffsetRange], others: list[OffsetRange]) -> None:
    found = within(some, others)
    assert covered(found) == covered(some) & covered(others)
    assert all(each.span for each in found)


@given(PLACES, PLACES, st.integers(0, 4))
def test_a_bridge_never_covers_what_stays_apart(
    some: list[OffsetRange], apart: list[OffsetRange], bridging: int
) -> None:
    found = merged(some, bridging, apart)
    assert covered(found) - covered(some) <= covered(merged(some, bridging)) - covered(apart)
    assert covered(some) <= covered(found)
    if not covered(apart) & covered(merged(some, bridging)):
        assert found == merged(some, bridging)
