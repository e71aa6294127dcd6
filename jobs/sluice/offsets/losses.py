"""Losses: offsets that were to be read and never will be, and whether they stop a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sluice.errors import DataLost, as_lines
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.origin import Origin
from sluice.offsets.ranges import OffsetRange


@dataclass(frozen=True)
class Loss:
    """Offsets that were to be read, and that Kafka does not hold any more.

    Or records that somebody has dropped from quarantine: `dropped_from` is the batch they were of.
    `recorded` is known of those that were read back.
    """

    offsets: OffsetRange
    topic_id: str
    cause: LossCause
    dropped_from: str | None = None
    recorded: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return (
            f"{self.offsets.partition}: expected to go on at {self.offsets.start}, found the log"
            f" starting at {self.offsets.end}: {self.offsets.span} offsets lost ({self.cause})"
        )


@dataclass(frozen=True)
class Skipped(Loss):
    """Offsets that somebody decided not to read, although Kafka may hold them."""

    def __str__(self) -> str:
        return f"{self.offsets}: {self.cause}"


def recorded_skips(losses: Iterable[Loss]) -> list[Skipped]:
    """Those of the recorded losses that are skips."""
    return [
        Skipped(each.offsets, each.topic_id, each.cause)
        for each in losses
        if each.cause.kind is LossKind.SKIPPED
    ]


class OnDataLoss(Protocol):
    """What a pipeline does about offsets that were lost."""

    def accept(self, lost: Sequence[Loss]) -> tuple[Loss, ...]:
        """The losses to record. Raises DataLost where they are to stop the run."""

    def cause_of_gap(self, kind: LossKind) -> LossCause | None:
        """Why offsets that nothing explains are taken as lost; None where they are not."""


@dataclass(frozen=True)
class FailOnLoss:
    """A loss stops the run: a person decides about it."""

    def accept(self, lost: Sequence[Loss]) -> tuple[Loss, ...]:
        """None, where there is none. Raises DataLost, a line for each."""
        if not lost:
            return ()
        count = sum(each.offsets.span for each in lost)
        decide = (
            f"{count} offsets are gone. `on_data_loss: record` in the spec goes on from the log"
            " start and leaves a loss row for each."
        )
        raise DataLost(as_lines([*map(str, lost), decide]))

    def cause_of_gap(self, kind: LossKind) -> LossCause | None:
        """Nothing is taken as lost."""
        return None


@dataclass(frozen=True)
class RecordLoss:
    """A loss is recorded, and reading goes on behind it."""

    def accept(self, lost: Sequence[Loss]) -> tuple[Loss, ...]:
        """All of them."""
        return tuple(lost)

    def cause_of_gap(self, kind: LossKind) -> LossCause | None:
        """What is known of the gap."""
        return LossCause(kind)


# As a spec's `on_data_loss` names them.
ON_DATA_LOSS: Mapping[str, OnDataLoss] = {"fail": FailOnLoss(), "record": RecordLoss()}
