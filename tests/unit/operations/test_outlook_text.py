"""What a run may take is estimated from something real, or unknown; what is left is counted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sluice.offsets.batch_sizes import BatchSizes
from sluice.offsets.batches import Batch
from sluice.offsets.lag import Lag
from sluice.operations.outlook_text import lines_of, remarks_of, summary_of
from sluice.protocol.plan.outlook import Estimate, EstimateBasis, Outlook

from tests.unit.builders import batch, offsets, partition

NOW = datetime(2013, 1, 2, 12, tzinfo=UTC)
SIZES = BatchSizes(ranges=4, rows=1000, size=50_000, files=8)
SAMPLES = {partition(0): 100.0, partition(1): 2.5}
RANGES = [offsets(0, 10), offsets(0, 20, 1), offsets(7, 7, 2)]


@pytest.mark.parametrize(
    ("basis", "expected"),
    [
        (EstimateBasis(SAMPLES, SIZES, split=False), Estimate(1050, 1500, 4)),
        (EstimateBasis(SAMPLES, None, split=False), Estimate(1050, None, 2)),
        (EstimateBasis(SAMPLES, None, split=True), Estimate(1050, None, None)),
        (EstimateBasis({partition(0): 100.0}, SIZES, split=True), Estimate(None, 1500, 4)),
    ],
    ids=["all known", "no batch yet", "no batch yet, partitioned", "a partition without sample"],
)
def test_an_estimate_goes_by_samples_and_the_newest_batches_or_is_unknown(
    basis: EstimateBasis, expected: Estimate
) -> None:
    assert basis.estimate(RANGES) == expected


def test_nothing_takes_nothing() -> None:
    assert EstimateBasis({}, None, split=False).estimate([offsets(7, 7)]) == Estimate(0, None, 0)
    assert EstimateBasis({}, SIZES, split=True).estimate([]) == Estimate(0, 0, 0)


def lag(number: int, cursor: int, stable: int, end: int | None = None) -> Lag:
    end = stable if end is None else end
    return Lag(partition(number), cursor, stable, end, None, NOW, log_start_offset=0)


def outlook(*batches: Batch, lags: tuple[Lag, ...], **more: Any) -> Outlook:
    basis = EstimateBasis(SAMPLES, SIZES, split=False)
    told: dict[str, Any] = {"adopted": (), "losses": (), "notes": (), **more}
    return Outlook(
        "flights", planned=batches, lags=lags, basis=basis, max_records_per_batch=10, **told
    )


def test_what_is_left_for_later_runs_is_counted_in_offsets_and_batches() -> None:
    ahead = outlook(
        batch(offsets(0, 6), offsets(0, 4, 1)),
        batch(offsets(6, 6), offsets(4, 14, 1), number=2),
        lags=(lag(0, 0, 7), lag(1, 0, 34)),
    )
    assert [ahead.left(each) for each in ahead.lags] == [1, 20]
    assert (ahead.offsets, ahead.later, ahead.batches_later) == (20, 21, 3)
    assert list(remarks_of(ahead)) == ["left for later runs: 21 offsets, 3 batches"]


def test_the_outlook_reads_as_plain_text() -> None:
    lags = (lag(0, 0, 6, 8), lag(1, 3, 3))
    ahead = outlook(batch(offsets(0, 6), offsets(3, 3, 1)), lags=lags, notes=("A note.",))
    assert list(lines_of(ahead)) == [
        "flights: would be planned: 1 batch, 6 offsets, about 600 B in Kafka, 300 B and 2"
        " files in the table (estimated)",
        "forward-1-1 (append): flights[0] [0, 6): 6 offsets",
        "flights[0]: cursor 0, Kafka holds [0, 6), time to loss unknown",
        "flights[1]: cursor 3, Kafka holds [0, 3), all read",
        "flights[0]: 2 offsets held back by an open transaction since an unknown time (offset 6)",
        "A note.",
    ]


def test_an_adopted_plan_is_told_from_a_new_one_and_nothing_from_both() -> None:
    adopted = outlook(lags=(), adopted=(batch(offsets(0, 6)),))
    assert "planned before, not committed yet: 1 batch, 6 offsets, about" in summary_of(adopted)
    both = outlook(batch(offsets(6, 9), number=2), lags=(), adopted=(batch(offsets(0, 6)),))
    assert "1 batch, 6 offsets; would be planned: 1 batch, 3 offsets, about" in summary_of(both)
    nothing = outlook(lags=(lag(0, 6, 6),))
    said = "flights: nothing new: cursor at flights[0]@6"
    assert (summary_of(nothing), list(remarks_of(nothing))) == (said, [])


def test_reading_again_leaves_nothing_for_later_and_begins_where_it_reads() -> None:
    again = outlook(batch(offsets(2, 4)), lags=(lag(0, 2, 9),), reads_again=True)
    assert (again.later, again.batches_later) == (0, 0)
    told = "flights[0]: read again from 2, Kafka holds [0, 9), time to loss unknown"
    assert told in lines_of(again)
    assert summary_of(outlook(lags=(), reads_again=True)) == "flights: nothing to read again"


def test_a_first_run_without_a_record_says_so() -> None:
    first = batch(offsets(0, 0))
    empty = "flights: the topic is empty: nothing to read; 1 batch would note where it begins"
    assert summary_of(outlook(first, lags=(lag(0, 0, 0),))) == empty
    latest = summary_of(outlook(batch(offsets(6, 6)), lags=(lag(0, 6, 6),)))
    assert latest.startswith("flights: it begins where the topic ends: nothing to read;")
