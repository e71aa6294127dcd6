"""Work is a reference to batches that fits into XCom and comes back unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.batches import BatchReference, BatchSequence

from tests.unit.builders import sequence

REFERENCE = {"pipeline": "flights", "lane": "forward", "generation": 1, "batches": [7, 8]}


@pytest.mark.parametrize(
    ("batches", "text"),
    [
        ((), "nothing"),
        ((42,), "forward-1-42"),
        ((42, 43), "forward-1-42 … forward-1-43 (2 batches)"),
        ((7, 8, 9), "forward-1-7 … forward-1-9 (3 batches)"),
    ],
)
def test_work_is_written_by_its_first_and_last_batch(batches: tuple[int, ...], text: str) -> None:
    assert str(BatchReference(sequence(), batches)) == text
    assert bool(BatchReference(sequence(), batches)) is bool(batches)


def test_work_names_its_pipeline() -> None:
    assert BatchReference(sequence("delays")).pipeline == "delays"


def test_the_reference_holds_no_offsets() -> None:
    assert BatchReference(sequence(), (7, 8)).as_dict() == REFERENCE


@given(
    st.builds(
        BatchReference,
        st.builds(
            BatchSequence,
            st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True),
            st.sampled_from(["forward", "backfill"]),
            st.integers(1, 10**6),
        ),
        st.lists(st.integers(1, 2**62), max_size=20).map(tuple),
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
        REFERENCE | {"batches": [None]},
    ],
    ids=str,
)
def test_what_is_no_reference_is_refused(reference: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        BatchReference.from_dict(reference)
