"""The quarantine budget: a batch is refused if it exceeds both limits, and not for one alone."""

from __future__ import annotations

from typing import Any

import pytest
from sluice.offsets.quarantine_budget import QuarantineBudget
from sluice.offsets.quarantine_tickets import JudgedRecords
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import spec_keys


def budget(**given: Any) -> QuarantineBudget:
    keys = {"quarantine": given} if given else {}
    return PipelineSpec.model_validate(spec_keys(**keys)).quarantine.budget


@pytest.mark.parametrize(
    ("given", "undecodable", "records", "refused"),
    [
        # One of 51 is 2 %, and no reason to stop a small topic; nor are ten of ten.
        ({}, 1, 51, False),
        ({}, 10, 10, False),
        ({}, 11, 20, True),
        ({}, 11, 1_100, False),
        ({}, 12, 1_100, True),
        # Who writes that none may be aside gets none, and so does who writes both as 0.
        ({"max_ratio": 0}, 1, 1_000_000, True),
        ({"max_ratio": 0.0, "max_records": 0}, 1, 1_000_000, True),
        ({"max_ratio": 0, "max_records": 3}, 3, 1_000_000, False),
        ({"max_ratio": 0, "max_records": 3}, 4, 1_000_000, True),
        # The share alone, as before there was a number.
        ({"max_records": 0}, 1, 51, True),
        ({"max_records": 0}, 1, 100, False),
        ({"max_ratio": 1}, 5_000, 5_000, False),
        # 0.29 * 100 is less than 29 in binary.
        ({"max_ratio": 0.29, "max_records": 0}, 29, 100, False),
        ({}, 0, 0, False),
    ],
)
def test_a_batch_is_refused_if_it_exceeds_both_limits(
    given: dict[str, Any], undecodable: int, records: int, refused: bool
) -> None:
    assert budget(**given).refuses(JudgedRecords(records, undecodable)) is refused


def test_both_limits_are_named_with_their_keys() -> None:
    assert str(budget()) == "1.00% (quarantine.max_ratio) or 10 records (quarantine.max_records)"
    assert str(budget(max_ratio=0)) == "0.00% (quarantine.max_ratio)"


def test_what_is_read_again_below_the_cursor_is_allowed_a_share_alone() -> None:
    """Ten rows of a wrong schema would go to quarantine, and the command succeed."""
    again = budget().for_lane("backfill")
    assert again.refuses(JudgedRecords(8, 8))
    assert not again.refuses(JudgedRecords(1_000, 8))
    assert str(again) == "1.00% (quarantine.max_ratio)"
    assert budget().for_lane("forward") == budget()


def test_a_spec_without_the_number_keeps_its_edition() -> None:
    """Batches of before are not told apart from those of now."""
    found = PipelineSpec.model_validate(spec_keys(quarantine={"max_ratio": 0.5}))
    assert found.edition.keys["quarantine"] == {"max_ratio": 0.5}
