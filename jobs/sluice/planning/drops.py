"""Drops: quarantined records that somebody decides to forget, as loss records. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sluice.planning.aside import Aside, State, Stretch, stretches
from sluice.planning.batches import BatchSequence
from sluice.planning.findings import Loss


@dataclass(frozen=True)
class Drop:
    """What is recorded, and which rows of the quarantine table go once that is durable.

    The rows are those of the losses, and what an interrupted drop has left behind.
    """

    sequence: BatchSequence
    cluster_id: str
    chosen: tuple[Aside, ...]
    losses: tuple[Loss, ...]
    rows: tuple[Stretch, ...]
    done: bool = False


def decide_drop(
    sequence: BatchSequence,
    cluster_id: str,
    rows: Iterable[Aside],
    chosen: Iterable[Aside],
    cause: str,
) -> Drop:
    """Forget the chosen ones of the rows. Rows that do not count are nobody's to forget."""
    live = tuple(each for each in chosen if each.state is State.LIVE)
    left_behind = [each for each in rows if each.state is State.DROPPED]
    return Drop(
        sequence,
        cluster_id,
        chosen=live,
        losses=tuple(
            Loss(each.offsets, each.topic_id, cause, each.batch) for each in stretches(live)
        ),
        rows=tuple(stretches([*live, *left_behind])),
    )
