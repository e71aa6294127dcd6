"""A recovery: what it writes, or would write."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.moves import Advice
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.doubts import Doubt
from sluice.offsets.loss_spans import offsets_lost
from sluice.offsets.losses import Loss
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset
from sluice.operations.recover.holes import Hole


@dataclass(frozen=True)
class Recovery:
    """What a recovery writes, or would write.

    `sets_aside` says whether the offsets table in place is renamed first, and `begins_anew` whether
    that is all, as there is no data table; `holes` are then what is gone with it, and `passed_over`
    says that `start` leaves out what Kafka still holds. Otherwise
    `batches` get a plan, `receipts` are written, `holes` are recorded as losses, and `opening` is
    the reset that follows; None where both tables agree. `left` says of which batches the receipts
    wait, as Kafka holds what they lack; `coming_back` says which rows that others deleted may be
    read again. `rows` are of batches of which only the rows tell; `doubts` are about batches that
    get no receipt. `done` if nothing is left to do.
    """

    pipeline: str
    sets_aside: bool = False
    begins_anew: bool = False
    batches: tuple[Batch, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    holes: tuple[Hole, ...] = ()
    passed_over: str | None = None
    left: tuple[Advice, ...] = ()
    opening: Reset | None = None
    coming_back: tuple[str, ...] = ()
    rows: int = 0
    closes: tuple[BatchSequence, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    done: bool = False

    def __bool__(self) -> bool:
        return self.begins_anew or self.sets_aside or self.opening is not None

    @property
    def losses(self) -> list[tuple[BatchSequence, str, Loss]]:
        """The holes as losses, each with its sequence and cluster id."""
        return [(each.sequence, each.cluster_id, each.loss) for each in self.holes]

    @property
    def lost(self) -> int:
        """Unexplained offsets without a row, recorded as lost by one receipt or several."""
        return offsets_lost(loss for each in self.receipts for loss in each.losses)
