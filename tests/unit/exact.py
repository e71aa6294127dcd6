"""Evidence that is exact, and small pieces to build other evidence from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sluice.offsets.batches import Lane
from sluice.offsets.row_offsets import Offsets, Rows
from sluice.operations.verify.checks import check
from sluice.progress.committed_ranges import CommittedRange, CountedRange
from sluice.progress.evidence import Evidence

from tests.unit.builders import offsets, partition


def array(values: Sequence[int]) -> Offsets:
    return np.array(values, dtype=np.int64)


def read(
    number: int,
    start: int,
    end: int,
    *,
    refused: int = 0,
    gaps: int = 0,
    filtered: int = 0,
    generation: int = 1,
    lane: Lane = "forward",
    version: int | None = None,
    due: bool = True,
) -> CommittedRange:
    """A batch as the number-th read of the partition, with the receipt that it should have."""
    records = end - start - refused - gaps - filtered
    line = CountedRange(offsets(start, end), records, refused, filtered=filtered)
    return CommittedRange(
        batch=f"{lane}-{generation}-{number}",
        forward=lane == "forward",
        generation=generation,
        offsets=offsets(start, end),
        version=number if version is None else version,
        due=due,
        receipts=[line] if due else [],
    )


def rows(*found: tuple[int, Sequence[int]]) -> Rows:
    """Offsets by the place of their batch among the reads."""
    return Rows(
        array([at for _, each in found for at in each]),
        array([place for place, each in found for _ in each]),
    )


def without(whole: Rows, *gone: int) -> Rows:
    return whole.only(~np.isin(whole.offsets, gone))


def with_(whole: Rows, *more: tuple[int, Sequence[int]]) -> Rows:
    return whole.and_(rows(*more))


# Two batches, [0, 10) and [10, 20): 3 is a marker, 15 quarantined, Kafka still holds [5, 20).
EXACT = Evidence(
    partition=partition(),
    reads=[read(1, 0, 10, gaps=1), read(2, 10, 20, refused=1)],
    openings={},
    lost=[],
    readable=[offsets(5, 20)],
    visible=array(range(5, 20)),
    data=rows((0, [*range(3), *range(4, 10)]), (1, [*range(10, 15), *range(16, 20)])),
    quarantined=rows((1, [15])),
    deleted={},
    compacts=False,
)


def found_in(evidence: Evidence) -> list[str]:
    return [each.invariant for each in check(evidence)]
