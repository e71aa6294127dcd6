"""History: the newest batches with their receipts, resets and losses, refreshes of the state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from sluice.errors import SettingsError
from sluice.moves import Move
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.losses import Loss
from sluice.offsets.notation import parse_batch
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset, Resets
from sluice.offsets.spec_edition import SpecEdition
from sluice.operations.state_history import StateHistory, read_state_history
from sluice.progress.committed import losses_that_count, newest_receipts
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.moved_to_another import as_moved
from sluice.progress.resources import PipelineResources


@dataclass(frozen=True)
class SettledBatch:
    """A batch with a receipt; `undone` by a reset, and who `planned` it, if its plan is left."""

    receipt: Receipt
    undone: bool
    planned: Origin | None

    @property
    def settled(self) -> Origin:
        """Who wrote the receipt, and when."""
        assert self.receipt.recorded is not None, "it was read back"
        return self.receipt.recorded

    @property
    def took(self) -> timedelta | None:
        """From the plan to the receipt, waits and retries included."""
        return self.settled.at - self.planned.at if self.planned else None


@dataclass(frozen=True)
class KnownBatch:
    """One batch: who `planned` it, whether it is `committed`, and its receipt if it has one.

    `planned` is None if only its receipt is left. `undone`: a reset closed its generation before.
    `planned_with` is the part of the spec that was to decide its rows; None if not recorded.
    """

    batch: Batch
    planned: Origin | None
    planned_with: SpecEdition | None
    committed: bool
    undone: bool
    receipt: Receipt | None

    @property
    def read_with(self) -> SpecEdition | None:
        """What of the spec decided the rows of a settled batch; None also while it is not."""
        return self.receipt.spec if self.receipt else None

    @property
    def settled(self) -> SettledBatch | None:
        """The batch as it was settled; None while it is not."""
        return SettledBatch(self.receipt, self.undone, self.planned) if self.receipt else None


@dataclass(frozen=True)
class LossEvent:
    """Losses that were recorded together, for one cause: as by one `quarantine drop`."""

    losses: tuple[Loss, ...]

    @property
    def offsets(self) -> int:
        """How many offsets are lost."""
        return offsets_lost(self.losses)


@dataclass(frozen=True)
class PipelineHistory:
    """The newest events of each kind, latest last, and how many older losses there are.

    `state` is None for a pipeline without a state table.
    """

    batches: tuple[SettledBatch, ...]
    resets: tuple[Reset, ...]
    losses: tuple[LossEvent, ...]
    older_losses: int
    state: StateHistory | None = None


def read_history(resources: PipelineResources, newest: int) -> PipelineHistory:
    """The newest of each kind, at most `newest`. Does not contact Kafka."""
    return history_of(resources, read_unchecked(resources), newest)


def history_of(resources: PipelineResources, lane: LaneState, newest: int) -> PipelineHistory:
    """The same, of a state that was read before."""
    losses = loss_events(losses_that_count(lane))
    return PipelineHistory(
        tuple(newest_batches(lane, newest)),
        tuple(as_moved(lane, each) for each in _fenced(lane.resets, lane.generation)[-newest:]),
        tuple(losses[-newest:]),
        max(0, len(losses) - newest),
        read_state_history(resources, newest),
    )


def find_batch(
    resources: PipelineResources, sequence: BatchSequence, number: int
) -> KnownBatch | None:
    """A batch of any lane and generation; None where no plan or receipt names it."""
    lane = read_unchecked(resources)
    if sequence.generation > lane.generation:
        return None
    planned = lane.snapshot.batches(sequence, number, last=number)
    receipts = lane.snapshot.receipts_of(sequence, number, number)
    if not planned and not receipts:
        return None
    end = lane.end_of(sequence)
    return KnownBatch(
        planned[0] if planned else receipts[0].batch,
        lane.snapshot.planned_by(sequence, number, number).get(number),
        lane.snapshot.planned_with(sequence, number),
        number <= end.last,
        end.closed and number > end.last,
        receipts[0] if receipts else None,
    )


def read_batch(resources: PipelineResources, name: str) -> KnownBatch:
    """One batch by its name. Does not contact Kafka. Raises SettingsError if there is none."""
    pipeline = resources.spec.pipeline
    try:
        sequence, number = parse_batch(pipeline, name)
    except ValueError as problem:
        raise SettingsError(f"--batch: {problem}") from None
    if found := find_batch(resources, sequence, number):
        return found
    raise SettingsError(
        f"--batch: found {name}, which {pipeline} has not planned. ",
        Move("history", (pipeline,)),
        " lists its newest batches.",
    )


def loss_events(losses: Iterable[Loss]) -> list[LossEvent]:
    """Group losses by who recorded them, when, and for which cause; the latest last."""

    def event(loss: Loss) -> tuple[object, ...]:
        assert loss.recorded is not None, "it was read back"
        return loss.recorded.at, loss.recorded.run_id, loss.recorded.actor, str(loss.cause)

    return [LossEvent(tuple(found)) for _, found in groupby(sorted(losses, key=event), key=event)]


def newest_batches(lane: LaneState, count: int) -> Iterator[SettledBatch]:
    """The newest batches with a receipt, of all lanes and generations, newest last."""
    receipts = newest_receipts(lane, count)
    numbers: dict[BatchSequence, list[int]] = {}
    for receipt, _ in receipts:
        numbers.setdefault(receipt.batch.sequence, []).append(receipt.batch.number)
    planned = {
        sequence: lane.snapshot.planned_by(sequence, min(found), max(found))
        for sequence, found in numbers.items()
    }
    for receipt, undone in receipts:
        batch = receipt.batch
        yield SettledBatch(receipt, undone, planned[batch.sequence].get(batch.number))


def _fenced(resets: Resets, newest: int) -> list[Reset]:
    """The resets in order, without one that was intended but never fenced."""
    found = sorted(resets.by_generation.items())
    return [reset for generation, reset in found if generation <= newest]
