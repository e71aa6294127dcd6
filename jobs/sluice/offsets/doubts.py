"""Doubts: a committed batch that may hold records of another topic than its own. Pure.

A doubt is about that batch only, and lasts until a person has decided about it by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sluice.errors import BatchInDoubt, as_lines
from sluice.moves import YOUR_WORDS, Advice, Move, advice, options
from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.partition_log import KafkaState


@dataclass(frozen=True)
class DoubtfulRange:
    """A range of a batch, and why it is uncertain which topic's records it holds."""

    planned: PlannedRange
    reason: str

    def __str__(self) -> str:
        return f"{self.planned.offsets.partition}: {self.reason}"


@dataclass(frozen=True)
class Doubt:
    """The ranges of a committed batch whose topic was another one when it was looked at next.

    `lasting`: it is recorded. Another cluster behind the connection says nothing about the topics
    of the one that was read: it is found anew each time.
    """

    batch: Batch
    ranges: tuple[DoubtfulRange, ...]
    lasting: bool = True

    @property
    def topics(self) -> list[str]:
        """The topics that it is about."""
        return sorted({each.planned.offsets.partition.topic for each in self.ranges})

    @property
    def topic_ids(self) -> list[str]:
        """Their ids, as the batch has them."""
        return sorted({each.planned.topic_id for each in self.ranges})

    @property
    def of_receipt(self) -> str:
        """What a receipt says that was written all the same."""
        if self.lasting:
            return "a topic was created anew before the receipt"
        return "another cluster was behind the connection before the receipt"

    def refusal(self, version: int) -> BatchInDoubt:
        """The refusal of a receipt; `version` is the data table's in which the batch landed."""
        reset = Move("reset", (self.batch.sequence.pipeline, "--to-earliest", *self._of_what()))
        told = advice(self._told, self._closing, _undoing(version, reset))
        return BatchInDoubt(as_lines([*(str(each) for each in self.ranges), told]))

    def _of_what(self) -> tuple[str, ...]:
        return options("--topic", self.topics) if self.lasting else ("--new-cluster",)

    @property
    def _told(self) -> str:
        if self.lasting:
            return (
                f"{self.batch}: committed, but the topic was deleted and created anew before its"
                " receipt: the batch may hold records of the new topic under the old topic's id,"
                " so it gets no receipt."
            )
        return (
            f"{self.batch}: committed, but the connection now leads to another cluster: whether"
            " the batch holds the records of the planned cluster can no longer be determined, so it"
            " gets no receipt. Point the connection to that cluster, and run again; or decide."
        )

    @property
    def _closing(self) -> Advice:
        ranges = (each.offsets for each in self.batch.ranges if each.offsets.span)
        words = (*options("--accept-gap", ranges), "--reason", YOUR_WORDS)
        return advice(
            f" Look at its rows (`_batch = '{self.batch}'`). If they are what was to be read, ",
            Move("verify", (self.batch.sequence.pipeline, *words)),
            " closes it.",
        )


def _undoing(version: int, reset: Move) -> Advice:
    before = f"version {version - 1}" if version > 0 else "the version before it"
    return advice(f" If not, RESTORE the data table to {before}; then ", reset, " goes on.")


def doubt_about(batch: Batch, state: KafkaState) -> Doubt | None:
    """What Kafka says about a batch that was read: whether a topic is another one by now.

    Spark reads by name, so it may have read a new topic. From a deleted topic it has read nothing.
    """
    if state.cluster_id != batch.cluster_id:
        why = f"expected cluster {batch.cluster_id}, found {state.cluster_id}"
        return _doubt(batch, ((each, why) for each in batch.ranges), lasting=False)
    found = ((each, state.logs.get(each.offsets.partition)) for each in batch.ranges)
    return _doubt(
        batch,
        (
            (each, f"expected topic id {each.topic_id}, found {log.topic_id}")
            for each, log in found
            if log is not None and log.topic_id != each.topic_id
        ),
    )


def doubt_marked(batch: Batch, topic_ids: Collection[str]) -> Doubt | None:
    """What is left of a recorded doubt if only the data table still records it."""
    return _doubt(
        batch,
        (
            (each, f"expected topic id {each.topic_id}, found another, as the data table says")
            for each in batch.ranges
            if each.topic_id in topic_ids
        ),
    )


def _doubt(
    batch: Batch, found: Iterable[tuple[PlannedRange, str]], lasting: bool = True
) -> Doubt | None:
    ranges = tuple(DoubtfulRange(*each) for each in found if each[0].offsets.span)
    return Doubt(batch, ranges, lasting) if ranges else None
