"""The lag over time for the list: read beside it, one by one, and only when a batch came."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from sluice.errors import BrokerUnavailable
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import receipt_without_gaps
from sluice.operations.history import SettledBatch
from sluice.operations.overview.overview import Overview, Progress
from sluice.scheduling.page.lag_over_time import LagPoint
from sluice.scheduling.page.lag_series import LagSeries, Points
from sluice.scheduling.page.rows import Row, row_of

from local.embedded.waiting import until
from tests.unit.builders import batch, offsets, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
LONG = 30.0


def row(name: str, number: int | None = 1, partitions: int = 1) -> Row:
    last = None
    if number is not None:
        ranges = [offsets(0, 5, each) for each in range(partitions)]
        receipt = receipt_without_gaps(batch(*ranges, number=number), number)
        by = Origin("run", "airflow:x", NOW + timedelta(minutes=number))
        last = SettledBatch(
            type(receipt)(receipt.batch, receipt.counted, number, recorded=by), False, by
        )
    return row_of(Overview(spec(pipeline=name), NOW, Progress(1, 5, last=last), ()), None)


class Read:
    """Says so many offsets as it was read times, and which pipelines were read."""

    def __init__(self) -> None:
        self.names: list[tuple[str, int]] = []
        self.threads: set[int] = set()

    def __call__(self, name: str, newest: int) -> Points:
        self.names.append((name, newest))
        self.threads.add(threading.get_ident())
        if name == "broken":
            raise ValueError
        if name == "silent":
            raise BrokerUnavailable("no answer")
        return (LagPoint(NOW, len(self.names)),)


def known(series: LagSeries, *rows: Row) -> dict[str, int]:
    until(lambda: series.look(rows) is not None and not series.is_due(rows), "the series", LONG)
    return {name: len(points) and points[0].offsets for name, points in series.look(rows).items()}


def test_it_is_read_beside_the_look_and_shown_to_the_next() -> None:
    release = threading.Event()
    series = LagSeries(lambda name, _: (release.wait(LONG) and (LagPoint(NOW, 7),)) or ())
    rows = [row("a"), row("b")]
    assert series.look(rows) == {}
    assert series.is_due(rows)
    release.set()
    assert known(series, *rows) == {"a": 7, "b": 7}


def test_it_is_read_again_only_when_the_last_batch_has_changed() -> None:
    read = Read()
    series = LagSeries(read)
    assert known(series, row("a"), row("b")) == {"a": 1, "b": 2}
    assert known(series, row("a"), row("b")) == {"a": 1, "b": 2}
    assert known(series, row("a"), row("b", 2)) == {"a": 1, "b": 3}
    assert [name for name, _ in read.names] == ["a", "b", "b"]


def test_a_pipeline_without_a_batch_is_not_read() -> None:
    read = Read()
    assert known(LagSeries(read), row("a", None)) == {}
    assert read.names == []


def test_of_many_partitions_few_batches_are_read() -> None:
    read = Read()
    known(LagSeries(read), row("a"), row("b", partitions=100), row("c", partitions=3000))
    assert read.names == [("a", 48), ("b", 20), ("c", 2)]


def test_what_cannot_be_read_is_left_out_until_a_batch_comes() -> None:
    read = Read()
    series = LagSeries(read)
    rows = [row("broken"), row("silent"), row("a")]
    assert known(series, *rows) == {"broken": 0, "silent": 0, "a": 3}
    assert known(series, *rows) == {"broken": 0, "silent": 0, "a": 3}
    assert len(read.names) == 3


def test_one_thread_reads_for_all_who_look() -> None:
    read, before = Read(), threading.active_count()
    series = LagSeries(read)
    rows = [row(f"p{each}") for each in range(40)]
    for _ in range(20):
        series.look(rows)
        assert threading.active_count() <= before + 1
    known(series, *rows)
    assert len(read.names) == 40
