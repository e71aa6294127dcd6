"""Work is a reference to batches that fits into XCom and comes back unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.batches import BatchReference, BatchSequence

from tests.unit.builders import sequence

REFERENCE = {"pipeline": "flights", "lane": "forward", "generation": 1, "batches": "7..8"}


@pytest.mark.parametrize(
    ("batches", "text"),
    [
        (range(0), "nothing"),
        (range(42, 43), "forward-1-42"),
        (range(42, 44), "forward-1-42 … forward-1-43 (2 batches)"),
        (range(7, 10), "forward-1-7 … forward-1-9 (3 batches)"),
    ],
)
def test_work_is_written_by_its_first_and_last_batch(batches: range, text: str) -> None:
    assert str(BatchReference(sequence(), batches)) == text
    assert bool(BatchReference(sequence(), batches)) is bool(batches)


def test_work_names_its_pipeline() -> None:
    assert BatchReference(sequence("delays")).pipeline == "delays"


def test_the_reference_holds_no_offsets() -> None:
    assert BatchReference(sequence(), range(7, 9)).as_dict() == REFERENCE


@given(
    st.builds(
        BatchReference,
        st.builds(
            BatchSequence,
            st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True),
            st.sampled_from(["forward", "backfill"]),
            st.integers(1, 10**6),
        ),
        st.builds(range, st.integers(1, 10**17), st.integers(1, 10**17)),
    )
)
def test_a_reference_comes_back_through_json(work: BatchReference) -> None:
    assert BatchReference.from_dict(json.loads(json.dumps(work.as_dict()))) == work


@pytest.mark.parametrize(
    "reference",
    [
        {},
        {key: value for key, value in REFERENCE.items() if key != "batches"},
        REFERENCE | {"lane": "sideways"},
        REFERENCE | {"lane": None},
        REFERENCE | {"generation": "first"},
        REFERENCE | {"generation": None},
        REFERENCE | {"batches": None},
        REFERENCE | {"batches": ["forward-1-7"]},
        REFERENCE | {"batches": [7, 8]},
        REFERENCE | {"batches": "7"},
        REFERENCE | {"batches": "8..7"},
        REFERENCE | {"batches": "0..7"},
        REFERENCE | {"batches": "7..8\n"},
        REFERENCE | {"batches": f"1..{10**18}"},
        None,
        [],
        "forward-1-7",
        7,
    ],
    ids=str,
)
def test_what_is_no_reference_is_refused(reference: Any) -> None:
    with pytest.raises(ValueError, match="is not a r"):
        BatchReference.from_dict(reference)


@pytest.mark.parametrize("batches", [range(3), range(-2, 3), range(1, 9, 2), range(9, 1, -1)])
def test_batches_of_a_reference_are_consecutive_and_count_from_one(batches: range) -> None:
    with pytest.raises(ValueError, match="not consecutive batches"):
        BatchReference(sequence(), batches)


def test_a_reference_is_cut_at_what_is_committed_and_into_shares() -> None:
    work = BatchReference(sequence(), range(7, 12))
    assert work.above(0) == work.above(6) == work.first(9) == work
    assert work.above(9).batches == range(10, 12)
    assert (bool(work.above(11)), bool(work.above(12)), bool(work.first(0))) == (False,) * 3
    assert work.above(8).first(2).batches == range(9, 11)


def test_a_reference_is_short_however_many_batches_it_has() -> None:
    many = BatchReference(sequence(), range(1, 10**9))
    assert len(json.dumps(many.as_dict())) < 120
