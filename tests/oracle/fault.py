"""A planted fault: breaks a correct little world in one way, against one invariant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.oracle.world import Ranges, Row, World

FIRST: Ranges = {0: (0, 13), 1: (0, 4)}
SECOND: Ranges = {0: (13, 26), 1: (4, 26)}


def two_batches(world: World) -> None:
    """Batch 1 ends inside the aborted transaction, batch 2 at the end of the log."""
    world.batch("forward-1-1", FIRST)
    world.batch("forward-1-2", SECOND)


@dataclass(frozen=True)
class Fault:
    """`apply` edits a world of two batches, or builds another one in its place."""

    name: str
    invariant: int
    apply: Callable[[World], None]


FAULTS: list[Fault] = []

Apply = Callable[[World], None]


def fault(invariant: int) -> Callable[[Apply], Apply]:
    """Keeps the function in FAULTS, under its own name."""

    def keep(apply: Apply) -> Apply:
        FAULTS.append(Fault(apply.__name__, invariant, apply))
        return apply

    return keep


def batches(world: World, first: Ranges, second: Ranges) -> None:
    """The same world, cut differently."""
    world.start_anew()
    world.batch("forward-1-1", first)
    world.batch("forward-1-2", second)


def event(world: World, name: str, batch: int = 1) -> list[Row]:
    """The offsets rows of one event of a forward batch."""
    rows = [row for step in world.of("offsets") for row in step.rows]
    return [r for r in rows if r["event"] == name and r["batch_id"] == batch]


def record(world: World, partition: int, offset: int) -> Row:
    rows = [row for step in world.of("data") for row in step.rows]
    return next(r for r in rows if (r["_partition"], r["_offset"]) == (partition, offset))
