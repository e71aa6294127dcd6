"""Lane by lane: each lane is settled on its own, so that one's problem does not stop the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sluice.errors import SluiceError
from sluice.offsets.batches import Lane
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES


@dataclass(frozen=True)
class SettledLanes:
    """The receipts that were written, and what stopped a lane."""

    receipts: tuple[Receipt, ...]
    problems: Mapping[Lane, SluiceError]

    def require_settled(self) -> tuple[Receipt, ...]:
        """The receipts of both lanes. Raises the first problem."""
        for problem in self.problems.values():
            raise problem
        return self.receipts


def settle_lanes(write: Callable[[Lane], list[Receipt]]) -> SettledLanes:
    """Write the receipts of both lanes, the second one whatever became of the first."""
    receipts: list[Receipt] = []
    problems: dict[Lane, SluiceError] = {}
    for lane in LANES:
        try:
            receipts += write(lane)
        except SluiceError as problem:
            problems[lane] = problem
    return SettledLanes(tuple(receipts), problems)
