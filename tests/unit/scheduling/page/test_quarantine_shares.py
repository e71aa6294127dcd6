"""Which part of each batch went to quarantine, stacked by the reasons of what waits still."""

from __future__ import annotations

from sluice.offsets.error_groups import group_errors
from sluice.offsets.quarantined import QuarantinedRecord
from sluice.operations.quarantine.listing import QuarantineListing
from sluice.scheduling.page.quarantine_shares import quarantine_plot
from sluice.scheduling.page.time_axis import TimeAxis
from sluice.scheduling.page.waiting_records import WaitingRecords, waiting_records

from tests.unit.builders import TOPIC_ID, partition
from tests.unit.scheduling.page.timed import NOON, at, settled

BATCHES = (
    settled(1, (0, 100), 0, 1, stable=100, quarantined=10),
    settled(2, (100, 200), 10, 11, stable=200),
    settled(3, (200, 300), 20, 21, stable=300, quarantined=5),
)

AXIS = TimeAxis(at(0), at(30))


def row(offset: int, batch: str, error: str) -> QuarantinedRecord:
    return QuarantinedRecord(partition(), offset, TOPIC_ID, batch, error, NOON)


def waiting(rows: list[QuarantinedRecord]) -> WaitingRecords:
    return waiting_records(
        "p", QuarantineListing(tuple(group_errors(rows)), (), {}, (), 0, 0, None)
    )


def test_a_batch_is_stacked_by_reason_and_what_is_gone() -> None:
    rows = [
        *(row(each, "forward-1-1", "no JSON") for each in range(6)),
        *(row(each, "forward-1-1", "too long") for each in range(6, 8)),
        *(row(each, "forward-1-3", "no JSON") for each in range(200, 205)),
    ]
    plot = quarantine_plot(BATCHES, waiting(rows), AXIS)
    assert [(each.kind, each.height) for each in plot.boxes] == [
        *(("reason-1", 57.6), ("reason-2", 19.2), ("reason-gone", 19.2)),
        ("reason-1", 48),
    ]
    assert plot.boxes[0].label == "forward-1-1: 6 records, no JSON"
    assert [each.y for each in plot.boxes[:3]] == [42.4, 23.2, 4]
    assert plot.keys == (
        *(("reason-1", "no JSON"), ("reason-2", "too long")),
        ("reason-gone", "replayed, dropped or read again since"),
    )
    assert plot.top == "10.000%"
    assert "of 3 batches, by reason: at most 10.000% (forward-1-1), 15 records in all" in (
        plot.summary
    )


def test_rare_reasons_share_a_colour() -> None:
    rows = [row(each, "forward-1-1", f"reason {'abcdefghij'[each]}") for each in range(10)]
    plot = quarantine_plot(BATCHES, waiting(rows), AXIS)
    found = {each.kind for each in plot.boxes if "forward-1-1" in each.label}
    assert found == {*(f"reason-{each}" for each in range(1, 5)), "reason-other"}


def test_without_any_there_is_nothing_to_see() -> None:
    assert quarantine_plot(BATCHES[1:2], None, AXIS).is_empty
    assert quarantine_plot((), None, AXIS).is_empty


def test_until_the_reasons_are_known_the_share_is_shown() -> None:
    plot = quarantine_plot(BATCHES, None, AXIS)
    assert [each.height for each in plot.boxes] == [96, 48]
    assert plot.keys == (("reason-gone", "for reasons that are not read yet"),)
