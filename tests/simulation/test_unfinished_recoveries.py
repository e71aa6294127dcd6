"""A recovery of the quarantine that is killed behind its plan, played by hand."""

from __future__ import annotations

from tests.simulation.by_hand import BROKEN, Hand


def test_what_is_planned_again_is_missing_until_it_lands_and_verify_says_where_it_is(
    hand: Hand,
) -> None:
    hand.produce(BROKEN, 1)
    hand.does("run")
    hand.quarantine.delete()
    hand.refused()
    hand.world.frozen.remove(hand.stops_at("plan durable", "quarantine", "recover"))
    hand.does("run")
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert {each.invariant for each in verdict.violations} == {"complete", "accounted"}
    (way_on,) = map(str, verdict.advice)
    assert "backfill-1-1. The next backfill lands them" in way_on
    hand.does("quarantine", "recover")
    hand.is_exact()
    assert not hand.world.pipeline().verify(lambda *_: None).advice
