"""A receipt that is refused names each gap, and the very commands that lead on."""

from __future__ import annotations

import re

import pytest
from sluice.offsets.loss_causes import LossKind
from sluice.protocol.settle.gaps import UnexplainedGap
from sluice.protocol.settle.refusal import unexplained_gaps

from tests.unit.builders import batch, offsets, partition

DUE = batch(offsets(0, 400))


def text(*gaps: UnexplainedGap, doubt: str = "") -> str:
    return str(unexplained_gaps(DUE, [(partition(), gap) for gap in gaps], doubt))


def test_every_gap_is_named_with_the_command_that_accepts_it() -> None:
    said = text(UnexplainedGap(3, 7, LossKind.ABSENT), UnexplainedGap(9, 10, LossKind.GONE))
    assert "forward-1-1: 5 offsets are not accounted for; expected 0" in said
    assert "flights[0] [3, 7) not in the log" in said
    command = "`sluice verify flights --accept-gap 'flights[0] [3, 7)' --accept-gap 'flights[0] [9"
    assert command in said
    assert "`on_data_loss: record`" in said
    assert "reprocess" not in said


def test_what_kafka_holds_is_read_again_first() -> None:
    said = text(UnexplainedGap(3, 7, LossKind.PRESENT))
    assert "`sluice reprocess flights --range 'flights[0] [3, 7)'` reads them again" in said
    assert "--accept-gap 'flights[0] [3, 7)'" in said
    assert "on_data_loss" not in said, "a policy decides about what is gone"


def test_a_batch_in_doubt_says_why() -> None:
    said = text(UnexplainedGap(0, 400, LossKind.UNCOUNTED), doubt="its commit is gone")
    assert "400 offsets are not accounted for: its commit is gone" in said
    assert "on_data_loss" not in said


@pytest.mark.parametrize("kind", [LossKind.ABSENT, LossKind.PRESENT])
def test_many_gaps_are_not_all_named_and_one_command_covers_them(kind: LossKind) -> None:
    said = text(*(UnexplainedGap(at, at + 1, kind) for at in range(0, 200, 2)))
    assert "… and 80 more ranges" in said
    assert re.findall(r"--accept-gap '(.*?)'", said) == ["flights[0] [0, 199)"]
