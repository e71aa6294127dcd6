"""A batch whose topic is another one after it was read is in doubt, whoever looks."""

from __future__ import annotations

from sluice.offsets.doubts import Doubt, doubt_about

from tests.unit.builders import TOPIC_ID, batch, log, offsets, state


def found(doubt: Doubt | None) -> Doubt:
    assert doubt is not None
    return doubt


def test_a_topic_created_anew_after_reading_is_named() -> None:
    whole = batch(offsets(10, 40, 0), offsets(5, 5, 1), number=7)
    doubt = found(doubt_about(whole, state(log(topic_id="new"), log(topic_id="new"))))
    refused = doubt.refusal(version=9)
    text = str(refused)
    assert f"flights[0]: expected topic id {TOPIC_ID}, found new" in text
    assert "flights[1]" not in text
    assert "forward-1-7: committed, but" in text
    assert "RESTORE the data table to version 8; then " in text
    assert [each.command for each in refused.moves] == ["verify", "reset"]
    assert refused.moves[1].arguments[1:] == ("--to-earliest", "--topic", "flights")
    assert doubt.lasting


def test_the_same_topic_or_none_at_all_is_no_new_topic() -> None:
    whole = batch(offsets(10, 40))
    assert doubt_about(whole, state(log())) is None
    assert doubt_about(whole, state()) is None


def test_a_batch_that_has_read_nothing_is_never_in_doubt() -> None:
    assert doubt_about(batch(offsets(5, 5)), state(log(topic_id="new"))) is None


def test_another_cluster_says_nothing_about_topics_and_is_not_recorded() -> None:
    doubt = found(doubt_about(batch(offsets(10, 40)), state(log(), cluster="other")))
    assert not doubt.lasting
    refused = doubt.refusal(version=-1)
    assert "found other" in str(refused)
    assert "RESTORE the data table to the version before it" in str(refused)
    assert refused.moves[1].arguments[1:] == ("--to-earliest", "--new-cluster")
