"""Batches have numbers within their sequence, and names that can be read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.batches import BatchSequence, Lane
from sluice.offsets.notation import parse_batch

from tests.unit.builders import batch, offsets, partition, planned, sequence


def test_a_sequence_names_its_two_delta_transactions() -> None:
    backfill = sequence(lane="backfill", generation=3)
    assert backfill.app_id == "sluice:flights:backfill:3"
    assert backfill.receipts_app_id == "sluice:flights:backfill:3:settled"


def test_a_batch_is_written_by_lane_generation_and_number() -> None:
    assert sequence(generation=1).batch(42) == "forward-1-42"
    assert str(batch(offsets(0, 1), number=7)) == "forward-1-7"


def test_a_batch_answers_by_topic_and_by_partition() -> None:
    first = planned(offsets(0, 5), topic_id="flights-id")
    second = planned(offsets(7, 9, 1, "delays"), topic_id="delays-id")
    found = batch(first, second)
    assert found.span == 7
    assert found.topic_ids == {"flights": "flights-id", "delays": "delays-id"}
    assert found.by_partition == {partition(): first, partition(1, "delays"): second}


@given(
    st.sampled_from(["forward", "backfill"]), st.integers(1, 10**9 - 1), st.integers(1, 10**18 - 1)
)
def test_names_are_read_back(lane: Lane, generation: int, number: int) -> None:
    chosen = BatchSequence("flights", lane, generation)
    assert parse_batch("flights", chosen.batch(number)) == (chosen, number)


@given(
    st.builds(
        BatchSequence, st.just("a"), st.sampled_from(["forward", "backfill"]), st.integers(1)
    ),
    st.builds(
        BatchSequence, st.just("a"), st.sampled_from(["forward", "backfill"]), st.integers(1)
    ),
)
def test_different_sequences_never_share_a_transaction_id(
    one: BatchSequence, other: BatchSequence
) -> None:
    ids = {one.app_id, one.receipts_app_id, other.app_id, other.receipts_app_id}
    assert len(ids) == (2 if one == other else 4)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "forward-1",
        "forward-1-42-3",
        "Forward-1-42",
        "sideways-1-42",
        "forward-0-42",
        "forward-1-0",
        "forward-01-2",
        "forward-1-+2",
        "forward--1-2",
        " forward-1-2",
        "forward-1-2\n",
        "forward-\N{ARABIC-INDIC DIGIT ONE}-2",
    ],
)
def test_anything_else_is_no_batch(text: str) -> None:
    with pytest.raises(ValueError, match="is not a batch; expected for example forward-1-42"):
        parse_batch("flights", text)


def test_the_topic_id_is_that_of_the_ranges_that_are_read() -> None:
    found = batch(planned(offsets(0, 6), topic_id="new"), planned(offsets(3, 3, 1), topic_id="old"))
    assert found.topic_ids == {"flights": "new"}
