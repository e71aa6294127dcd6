"""Acceptance: who decides that an unexplained gap is recorded as lost. Pure."""

from __future__ import annotations

from sluice.offsets.batches import Lane
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import OnDataLoss
from sluice.offsets.ranges import TopicPartition
from sluice.protocol.settle.counting import AcceptGap
from sluice.protocol.settle.gaps import UnexplainedGap


def acceptance(policy: OnDataLoss, lane: Lane, by_hand: AcceptGap | None = None) -> AcceptGap:
    """A person first, then what backfills accept in any case, then the spec's policy."""
    accept = _by_policy(policy)
    if lane == "backfill":
        accept = _deleted_or(accept)
    return _first_of(by_hand, accept) if by_hand is not None else accept


def _deleted_or(otherwise: AcceptGap) -> AcceptGap:
    """Also accept what retention deleted before a backfill could read it: its rows stay."""

    def accept(partition: TopicPartition, gap: UnexplainedGap) -> LossCause | None:
        if gap.cause is LossKind.DELETED:
            return LossCause(LossKind.NOT_READ_AGAIN)
        return otherwise(partition, gap)

    return accept


def _first_of(first: AcceptGap, otherwise: AcceptGap) -> AcceptGap:
    return lambda at, gap: first(at, gap) or otherwise(at, gap)


def _by_policy(policy: OnDataLoss) -> AcceptGap:
    return lambda _, gap: policy.cause_of_gap(gap.cause)
