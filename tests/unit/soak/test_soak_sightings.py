"""The soak's reader: whole batches pass; every way to be torn is told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.soak.sightings import Counts, Event, Landing, Restored, Sighting, changes, held, torn

# Two partitions; offset 3 of partition 0 is a marker, offset 5 of partition 1 was malformed.
STORED = {0: np.array([0, 1, 2, 4, 5, 6, 7]), 1: np.array([0, 1, 2, 3, 4, 6, 7])}
ONE = Landing(1, "forward-1-1", {0: (0, 4), 1: (0, 4)})
TWO = Landing(2, "forward-1-2", {0: (4, 6), 1: (4, 6)})
AGAIN = Landing(4, "forward-2-1", {0: (0, 5), 1: (0, 2)})
EVENTS: list[Event] = [ONE, TWO, AGAIN]
AT = {
    1: {("forward-1-1", 0): 3, ("forward-1-1", 1): 4},
    2: {
        ("forward-1-1", 0): 3,
        ("forward-1-1", 1): 4,
        ("forward-1-2", 0): 2,
        ("forward-1-2", 1): 1,
    },
    4: {
        ("forward-2-1", 0): 4,
        ("forward-1-2", 0): 1,
        ("forward-2-1", 1): 2,
        ("forward-1-1", 1): 2,
        ("forward-1-2", 1): 1,
    },
}


def looks(*seen: tuple[int, Counts]) -> list[Sighting]:
    """A reader's looks, from what it saw at versions."""
    before: Counts = {}
    found = []
    for version, counts in seen:
        found.append(Sighting(version, changes(before, counts)))
        before = counts
    return found


@pytest.mark.parametrize("version", AT)
def test_a_record_belongs_to_the_last_batch_that_has_read_it(version: int) -> None:
    assert held(version, EVENTS, STORED) == AT[version]


def test_whole_batches_are_not_torn_whichever_versions_were_seen() -> None:
    fence = (3, AT[2])
    assert (
        list(torn(looks((0, {}), (1, AT[1]), (2, AT[2]), fence, (4, AT[4])), EVENTS, STORED)) == []
    )
    assert list(torn(looks((1, AT[1]), (4, AT[4])), EVENTS, STORED)) == []


def test_a_restore_brings_back_what_was_there() -> None:
    events = [*EVENTS, Restored(5, 1), Landing(6, "forward-3-1", {0: (4, 8), 1: (4, 8)})]
    after = {**AT[1], ("forward-3-1", 0): 4, ("forward-3-1", 1): 3}
    assert held(5, events, STORED) == AT[1]
    assert held(6, events, STORED) == after
    assert held(8, [*events, Restored(7, 3), Restored(8, 6)], STORED) == after
    assert held(7, [*events, Restored(7, 3)], STORED) == AT[2]


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (
            {**AT[2], ("forward-1-2", 0): 1},
            "forward-1-2, partition 0: expected 2 rows, the reader saw 1",
        ),
        (
            {**AT[2], ("forward-1-2", 1): 0},
            "forward-1-2, partition 1: expected 1 rows, the reader saw 0",
        ),
        (
            {**AT[2], ("forward-1-1", 1): 5},
            "forward-1-1, partition 1: expected 4 rows, the reader saw 5",
        ),
        (
            {**AT[2], ("forward-1-3", 0): 1},
            "forward-1-3, partition 0: expected 0 rows, the reader saw 1",
        ),
    ],
)
def test_a_torn_batch_is_told(seen: Counts, told: str) -> None:
    assert list(torn(looks((1, AT[1]), (2, seen)), EVENTS, STORED)) == [f"version 2: {told}"]


def test_a_batch_that_is_seen_before_its_commit_is_told() -> None:
    assert len(list(torn(looks((1, AT[2])), EVENTS, STORED))) == 2


def test_a_replacement_that_leaves_old_rows_is_told() -> None:
    both = {**AT[4], ("forward-1-1", 0): 3}
    assert list(torn(looks((4, both)), EVENTS, STORED)) == [
        "version 4: forward-1-1, partition 0: expected 0 rows, the reader saw 3"
    ]


def test_rows_seen_twice_and_versions_that_run_backwards_are_told() -> None:
    twice = Sighting(2, changes({}, AT[2]), repeated=3)
    back = Sighting(1, changes(AT[2], AT[1]))
    assert list(torn([twice, back], EVENTS, STORED)) == [
        "version 2: 3 rows more than once",
        "the reader saw version 1 after version 2",
    ]
