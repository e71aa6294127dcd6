"""An offset is lost once, however many losses tell of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.losses import Loss

from tests.unit.builders import TOPIC_ID, offsets

CAUSE = LossCause(LossKind.RETENTION)
losses = st.builds(
    lambda topic_id, number, start, span, batch: Loss(
        offsets(start, start + span, number), topic_id, CAUSE, batch
    ),
    st.sampled_from(["one", "other"]),
    st.integers(0, 1),
    st.integers(0, 30),
    st.integers(0, 12),
    st.sampled_from([None, "forward-1-1"]),
)


@given(st.lists(losses, max_size=12))
def test_an_offset_is_lost_once_however_often_it_is_told(told: list[Loss]) -> None:
    each_once = {
        (*loss.place, offset)
        for loss in told
        for offset in range(loss.offsets.start, loss.offsets.end)
    }
    assert offsets_lost(told) == offsets_lost(told + told) == len(each_once)


def test_losses_are_counted_without_counting_to_their_ends() -> None:
    whole = offsets(0, 2**62)
    assert offsets_lost(Loss(whole, TOPIC_ID, CAUSE) for _ in range(3)) == 2**62
