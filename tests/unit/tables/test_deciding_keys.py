"""Deciding keys: what a batch may change is read back as it was written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.spec_edition import SpecEdition
from sluice.tables.deciding_keys import deciding_keys, read_only

from tests.unit.builders import batch, offsets

EDITION = SpecEdition.of({"topics": ["flights"], "only": "a key of a spec"})
SOME = (
    OffsetRange(TopicPartition("a.b", 0), 2, 3),
    OffsetRange(TopicPartition("a.b", 0), 7, 9),
    OffsetRange(TopicPartition("flights", 11), 0, 1),
)


@pytest.mark.parametrize("spec", [None, EDITION])
def test_both_are_read_back(spec: SpecEdition | None) -> None:
    text = deciding_keys(replace(batch(offsets(0, 9)), only=SOME), spec)
    assert text is not None
    assert (read_only([None, text]), SpecEdition.read(text)) == (SOME, spec)


def test_a_batch_that_may_change_all_says_nothing_of_it() -> None:
    assert deciding_keys(batch(offsets(0, 9)), None) is None
    assert deciding_keys(batch(offsets(0, 9)), EDITION) == str(EDITION)
    assert read_only([None, str(EDITION), "no JSON"]) is None
