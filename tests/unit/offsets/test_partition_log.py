"""A partition's log as a broker tells it: what can be read lies between its start and the LSO."""

from __future__ import annotations

import pytest
from sluice.offsets.partition_log import PartitionLog
from sluice.operations.peek.sampling import End, range_at, shares

from tests.unit.builders import partition


@pytest.mark.parametrize("stable", [0, 4, 7])
def test_below_the_log_start_nothing_can_be_read(stable: int) -> None:
    """A leader that was just elected may tell a high watermark from before a deletion."""
    log = PartitionLog.told("id", start=7, stable=stable, end=stable, epoch=3)
    assert (log.log_start_offset, log.last_stable_offset, log.end_offset) == (7, 7, 7)
    assert log.nearest(2) == 7
    assert shares({partition(): log}, 10) == {}
    assert [range_at(end, partition(), log, 3).span for end in End] == [0, 0]


def test_a_log_that_grows_between_two_answers_ends_at_the_later_one() -> None:
    assert PartitionLog.told("id", start=0, stable=9, end=5, epoch=3).end_offset == 9
    assert PartitionLog.told("id", start=0, stable=5, end=9, epoch=3).last_stable_offset == 5
