"""The ways back from a data table that is not the expected one, as refusals name them."""

from __future__ import annotations

from sluice.errors import TableRefused
from sluice.moves import Advice, Move, advice
from sluice.offsets.batches import BatchSequence
from sluice.offsets.quarantine_tickets import FENCED, last_closed
from sluice.tables.delta_snapshot import DeltaSnapshot

PUT_BACK = "Bring the table back as it was"


def require_table(pipeline: str, expected: str | None, found: DeltaSnapshot) -> None:
    """Raises TableRefused in another table than that with the expected Delta id, if one is known.

    Spark writes by path, and lands a batch in whatever table it finds there.
    """
    if expected not in (None, found.table_id):
        raise TableRefused(f"{found.uri}: ", other_table(pipeline, expected, found))


def not_landed(sequence: BatchSequence, closed: int) -> Advice:
    """What to say about a batch whose quarantine is closed, and that has not landed."""
    name = sequence.batch(closed) if closed < last_closed(FENCED) else sequence
    return advice(
        f"expected {name}, as its quarantine is closed, found that it has not landed: an older copy"
        " was put back. Bring the newest back; or ",
        by_reset_to_table(sequence.pipeline),
        ".",
    )


def other_table(pipeline: str, expected: str, found: DeltaSnapshot) -> Advice:
    """What to say about another table in the place of the expected one, or none."""
    if found.table_id is None:
        return advice(
            f"expected Delta table {expected}, found no table: it was dropped. {PUT_BACK}, or"
            f" check the mount of the warehouse. Only if there is no copy: ",
            Move("recover", (pipeline,)),
            " lets the pipeline start over, at its `start`.",
        )
    return advice(
        f"expected Delta table {expected}, found {found.table_id}: it was dropped, and another is"
        f" in its place. {PUT_BACK}; or ",
        by_recovery(pipeline),
        ".",
    )


def by_reset_to_table(pipeline: str) -> Advice:
    """The reset that goes on from the table, whatever it lacks."""
    return advice(Move("reset", (pipeline, "--to-table")), " goes on from the rows that are there")


def by_recovery(pipeline: str) -> Advice:
    """The recovery that takes the table for the right one."""
    return advice(
        Move("recover", (pipeline,)),
        " builds the offsets table anew from the table that is there",
    )
