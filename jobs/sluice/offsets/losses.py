"""Losses: offsets that will never be read, and whether they stop a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sluice.errors import DataLost, as_lines
from sluice.offsets.loss_causes import BY_POLICY, LossCause, LossKind
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import OffsetRange, TopicIdPartition


@dataclass(frozen=True)
class Loss:
    """Offsets that should have been read but that Kafka no longer holds.

    Or records that an operator dropped from quarantine, or rows that a copy of the table lacks:
    `dropped_from` is the batch they came from.
    `recorded` is set on losses read back from the table.
    """

    offsets: OffsetRange
    topic_id: str
    cause: LossCause
    dropped_from: str | None = None
    recorded: Origin | None = field(default=None, compare=False)

    @property
    def place(self) -> TopicIdPartition:
        """The partition as rows name it."""
        return self.offsets.partition.of(self.topic_id)

    def __str__(self) -> str:
        return (
            f"{self.offsets.partition}: expected to go on at {self.offsets.start}, found the log"
            f" starting at {self.offsets.end}: {self.offsets.span} offsets lost ({self.cause})"
        )


@dataclass(frozen=True)
class Skipped(Loss):
    """Offsets that an operator decided not to read, although Kafka may hold them."""

    def __str__(self) -> str:
        return f"{self.offsets}: {self.cause}"


def recorded_skips(losses: Iterable[Loss]) -> list[Skipped]:
    """The recorded losses that are skips."""
    return [
        Skipped(each.offsets, each.topic_id, each.cause)
        for each in losses
        if each.cause.kind is LossKind.SKIPPED
    ]


class OnDataLoss(Protocol):
    """What a pipeline does about lost offsets."""

    def accept(self, lost: Sequence[Loss]) -> tuple[Loss, ...]:
        """The losses to record. Raises DataLost where they must stop the run."""

    def cause_of_gap(self, kind: LossKind) -> LossCause | None:
        """The cause to record for an unexplained gap; None where a gap is not taken as lost."""


@dataclass(frozen=True)
class FailOnLoss:
    """A loss stops the run: the operator decides."""

    def accept(self, lost: Sequence[Loss]) -> tuple[Loss, ...]:
        """Nothing to record. Raises DataLost if there are losses, one line for each."""
        if not lost:
            return ()
        count = sum(each.offsets.span for each in lost)
        decide = (
            f"{count} {'offset is' if count == 1 else 'offsets are'} gone."
            " `on_data_loss: record` in the spec goes on from the log start and leaves a loss row"
            " for each."
        )
        raise DataLost(as_lines([*map(str, lost), decide]))

    def cause_of_gap(self, kind: LossKind) -> LossCause | None:
        """No gap is taken as lost."""
        return None


@dataclass(frozen=True)
class RecordLoss:
    """A loss is recorded, and reading continues after it."""

    def accept(self, lost: Sequence[Loss]) -> tuple[Loss, ...]:
        """All of them."""
        return tuple(lost)

    def cause_of_gap(self, kind: LossKind) -> LossCause | None:
        """The kind of gap as its cause, if what was there is gone."""
        return LossCause(kind) if kind in BY_POLICY else None


# By the value of `on_data_loss` in a spec.
ON_DATA_LOSS: Mapping[str, OnDataLoss] = {"fail": FailOnLoss(), "record": RecordLoss()}
