"""Into how many tasks a batch's reading is cut: no task is tiny, and no batch takes longer."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.lake.reading_tasks import LEAST, may_cut, most_offsets

SPANS = st.lists(st.integers(0, 40 * LEAST), max_size=12)
CORES = st.integers(1, 64)


def cut(span: int, most: int | None) -> list[int]:
    """The tasks of a partition, as Spark's option maxRecordsPerPartition makes them."""
    parts = -(-span // (most or span or 1))
    return [span * (n + 1) // parts - span * n // parts for n in range(parts)]


def tasks_of(spans: Sequence[int], cores: int) -> list[int]:
    """All tasks of a batch."""
    most = most_offsets(spans, cores)
    return [task for span in spans for task in cut(span, most)]


def time_of(tasks: Sequence[int], cores: int) -> int:
    """When the last core is done; each one takes the next task as soon as it is free."""
    busy_until = [0] * cores
    heapify(busy_until)
    for task in tasks:
        heapreplace(busy_until, busy_until[0] + task)
    return max(busy_until)


@given(st.integers(1, 64), CORES)
def test_a_single_large_partition_becomes_as_many_tasks_as_there_are_cores(
    more: int, cores: int
) -> None:
    tasks = tasks_of([cores * LEAST * more], cores)
    assert len(tasks) == cores
    assert max(tasks) - min(tasks) <= 1


@given(SPANS, CORES)
def test_the_tasks_are_exactly_the_partitions(spans: list[int], cores: int) -> None:
    most = most_offsets(spans, cores)
    assert all(sum(cut(span, most)) == span for span in spans)
    assert all(task > 0 for span in spans for task in cut(span, most))


@given(SPANS, CORES)
def test_no_task_is_tiny_unless_its_partition_is(spans: list[int], cores: int) -> None:
    most = most_offsets(spans, cores)
    for span in spans:
        assert min(cut(span, most), default=LEAST) >= min(span, LEAST // 2)


@given(SPANS, CORES)
def test_there_are_at_most_twice_as_many_tasks_as_cores_more(spans: list[int], cores: int) -> None:
    assert len(tasks_of(spans, cores)) <= sum(map(bool, spans)) + 2 * cores


@given(st.data(), SPANS, CORES)
def test_no_batch_takes_longer_in_whatever_order_its_tasks_run(
    data: st.DataObject, spans: list[int], cores: int
) -> None:
    tasks = data.draw(st.permutations(tasks_of(spans, cores)))
    whole = data.draw(st.permutations([span for span in spans if span]))
    assert most_offsets(spans, cores) is None or time_of(tasks, cores) <= time_of(whole, cores)


@given(SPANS, CORES)
def test_the_cores_are_only_asked_for_where_it_matters(spans: list[int], cores: int) -> None:
    assert may_cut(spans) or most_offsets(spans, cores) is None


@given(st.integers(1, 40 * LEAST), CORES, st.integers(1, 64))
def test_equal_partitions_are_left_whole_if_there_are_enough(
    span: int, cores: int, more: int
) -> None:
    assert most_offsets([span] * (cores + more), cores) is None


@pytest.mark.parametrize(
    ("spans", "cores", "most"),
    [
        ([2_000_000], 2, 1_000_000),
        ([2_000_000, 0, 0], 8, 250_000),
        ([500_000] * 4, 2, None),
        ([1_900_000, 50_000, 50_000], 4, 250_000),
        ([60_000, 40_000], 2, None),
        ([LEAST], 64, None),
        ([LEAST + 1], 64, LEAST),
        ([2_000_000], 1, None),
        ([2_000_000, 1], 1, None),
        ([1], 8, None),
        ([], 8, None),
    ],
)
def test_some_batches(spans: list[int], cores: int, most: int | None) -> None:
    assert most_offsets(spans, cores) == most
