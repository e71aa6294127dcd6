"""What is done about lost offsets: a loss stops the run, or it is recorded."""

from __future__ import annotations

import pytest
from sluice.errors import DataLost
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import ON_DATA_LOSS, FailOnLoss, Loss, RecordLoss

from tests.unit.builders import TOPIC_ID, offsets, spec

LOSS = Loss(offsets(5, 20), TOPIC_ID, LossCause(LossKind.RETENTION))


def test_a_spec_names_what_is_done() -> None:
    assert spec().data_loss == spec(on_data_loss="fail").data_loss == FailOnLoss()
    assert spec(on_data_loss="record").data_loss == RecordLoss()


def test_a_loss_stops_the_run_and_no_gap_is_taken_as_one() -> None:
    policy = ON_DATA_LOSS["fail"]
    with pytest.raises(DataLost, match=r"flights\[0\]: .* 15 offsets lost \(retention"):
        policy.accept([LOSS])
    assert policy.accept([]) == ()
    assert policy.cause_of_gap(LossKind.ABSENT) is None


def test_a_loss_is_recorded_and_a_gap_with_what_is_known_of_it() -> None:
    policy = ON_DATA_LOSS["record"]
    assert policy.accept([LOSS]) == (LOSS,)
    assert policy.cause_of_gap(LossKind.ABSENT) == LossCause(LossKind.ABSENT)


@pytest.mark.parametrize("kind", [LossKind.PRESENT, LossKind.UNCOUNTED])
def test_no_policy_gives_up_what_may_be_there(kind: LossKind) -> None:
    assert [policy.cause_of_gap(kind) for policy in ON_DATA_LOSS.values()] == [None, None]
