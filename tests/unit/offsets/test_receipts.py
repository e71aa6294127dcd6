"""Every offset of a batch is a record, quarantined, or a gap; nothing else adds up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt, receipt_without_gaps

from tests.unit.builders import batch, offsets, planned

few = st.integers(0, 50)


@given(few, few, few, few, few, few)
def test_counts_that_add_up_are_accepted(
    records: int, quarantined: int, control: int, aborted: int, compacted: int, lost: int
) -> None:
    gaps = GapCount(control, aborted, compacted, lost)
    span = records + quarantined + gaps.total
    assert (
        PartitionCount(planned(offsets(7, 7 + span)), records, quarantined, gaps).records == records
    )


@given(few, few, few, st.integers(-150, 150).filter(bool))
def test_counts_that_do_not_add_up_are_refused_by_name(
    records: int, quarantined: int, gaps: int, off: int
) -> None:
    span = max(0, records + quarantined + gaps + off)
    if span == records + quarantined + gaps:
        return
    with pytest.raises(ValueError, match=r"flights\[0\] \[0, \d+\): expected") as refused:
        PartitionCount(planned(offsets(0, span)), records, quarantined, GapCount(control=gaps))
    for part in (f"{span} offsets", f"{records} records", f"{quarantined} quar", f"{gaps} gaps"):
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("records", "quarantined", "gaps"),
    [(6, -1, GapCount()), (-1, 6, GapCount()), (6, 0, GapCount(control=-1))],
)
def test_a_negative_count_is_no_count(records: int, quarantined: int, gaps: GapCount) -> None:
    with pytest.raises(ValueError, match="-1"):
        PartitionCount(planned(offsets(0, 5)), records, quarantined, gaps)


def test_what_is_left_out_is_counted_and_is_no_gap() -> None:
    line = PartitionCount(planned(offsets(0, 10)), 5, 1, GapCount(control=1), filtered=3)
    assert line.gaps.total == 1
    with pytest.raises(ValueError, match=r"expected 10 .* \+ 4 filtered \+ 1 gaps"):
        PartitionCount(planned(offsets(0, 10)), 5, 1, GapCount(control=1), filtered=4)


def test_a_receipt_sums_its_partitions() -> None:
    first, second = planned(offsets(0, 10)), planned(offsets(5, 11, 1))
    counted = (
        PartitionCount(first, 7, 1, GapCount(control=1, lost=1)),
        PartitionCount(second, 2, 0, GapCount(aborted=1, compacted=1), filtered=2),
    )
    receipt = Receipt(batch(first, second), counted, data_version=4)
    assert (receipt.records, receipt.quarantined, receipt.gaps) == (9, 1, 4)
    assert receipt.filtered == 2


def test_a_full_receipt_has_a_record_for_every_offset_of_every_partition() -> None:
    receipt = receipt_without_gaps(batch(offsets(3, 8), offsets(6, 6, 1)), data_version=2)
    assert [each.records for each in receipt.counted] == [5, 0]
    assert (receipt.quarantined, receipt.gaps, receipt.losses) == (0, 0, ())
    assert receipt.data_version == 2
