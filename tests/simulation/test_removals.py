"""What maintenance removes from the quarantine is judged by what it took, as everybody's is."""

from __future__ import annotations

import re
from datetime import timedelta

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.restores import restore


def has_a_superseded_record(hand: Hand) -> int:
    """A record was quarantined, and read again; by now its first row may go."""
    hand.produce(0, BROKEN)
    hand.does("run")
    before = hand.table().version()
    hand.does("reprocess", "--range", "t[0] [0, 2)")
    hand.produce(2, BROKEN)
    hand.does("run")
    hand.world.clock.advance(timedelta(days=9))
    return before


def test_a_maintenance_that_lands_late_is_refused_where_its_rows_count_again(hand: Hand) -> None:
    """So its commit excuses nothing by its name: nobody knows when it decided."""
    before = has_a_superseded_record(hand)
    maintaining = hand.stops_at("lake: snapshot taken", "maintain")
    restore(hand.world, "trips", before)
    hand.refused()
    hand.does("reset", "--to-table")
    hand.world.go_on(maintaining, None)
    problem = hand.refused()
    assert "a MERGE: expected the quarantined records that receipts count" in str(problem)
    assert "found some gone: 1 of forward-1-1, in t[0] [1, 2)" in str(problem)
    hand.does("quarantine", "recover")
    hand.is_exact()


def test_after_a_maintenance_what_others_delete_comes_back_as_told(hand: Hand) -> None:
    has_a_superseded_record(hand)
    hand.does("maintain")
    hand.does("run")
    hand.quarantine.delete("_offset = 3")
    (version,) = re.findall(r"RESTORE the table to version (\d+)", str(hand.refused()))
    restore(hand.world, "trips__quarantine", int(version))
    hand.is_exact()
    hand.does("maintain")
    hand.is_exact()
