"""The schedule of a soak: which fault strikes when, by the seed alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from sluice.failpoints import POINTS

# A storm and the quiet after it, in seconds; a quarter of the time nothing strikes.
CYCLE = (40.0, 80.0)
STORMY = 0.75
PAUSE = (2.0, 8.0)
FIRST = 6.0
# Much is read again after some kinds of fault: they are this far apart, and the first one as well
# waits until there is something to read again.
APART, SETTLED_IN = 90.0, 45.0

# The points that only a replacement, a reset, a skip, a drop, a rebuild or maintenance passes; the
# others are in every run.
_ELSEWHERE = (
    "kept rows known",
    "state given up",
    "reset intended",
    "fence stands",
    "skip fenced",
    "offsets set aside",
    "recovery fenced",
    "drop recorded",
    "quarantine replaced",
    "quarantine cleared",
)
_IN_PYTHON = tuple(point for point in POINTS if point not in _ELSEWHERE)
_IN_THE_COMMIT = (
    "creation",
    "files written",
    "quarantine creation",
    "quarantine files written",
    "quarantine reply lost",
)
FAILPOINTS = tuple(f"{point}: {how}" for point in _IN_PYTHON for how in ("kill", "term", "raise"))
COMMIT_FAILPOINTS = (
    *(f"{point}: {how}" for point in _IN_THE_COMMIT for how in ("kill", "halt", "raise")),
    *(f"reply lost: {how}" for how in ("kill", "halt", "raise", "exists")),
)
READ_AGAIN_FAILPOINTS = (
    "",
    "",
    "plan durable: kill",
    "kept rows known: kill",
    "commit landed: kill",
)
RESET_FAILPOINTS = ("reset intended: kill", "fence stands: kill")


@dataclass(frozen=True)
class Kind:
    """A kind of fault: how often, how long, where, and whether much is read again after it.

    What is killed is killed when something is next written, or else after its seconds.
    """

    weight: int
    seconds: tuple[float, float] = (0.0, 0.0)
    points: tuple[str, ...] = ("",)
    re_reads: bool = False


KINDS: Mapping[str, Kind] = {
    "run killed": Kind(2, (0, 10)),
    "JVM killed": Kind(2, (0, 10)),
    "driver killed": Kind(2, (0, 10)),
    "JVM frozen": Kind(3, (2, 8)),
    "driver frozen": Kind(3, (2, 8)),
    "failpoint": Kind(5, points=FAILPOINTS),
    "failpoint in the commit": Kind(5, points=COMMIT_FAILPOINTS),
    "two runs at once": Kind(3),
    "rewind": Kind(2, re_reads=True),
    "rewind killed": Kind(2, points=RESET_FAILPOINTS, re_reads=True),
    "read again": Kind(4, points=READ_AGAIN_FAILPOINTS),
    "table restored": Kind(4, re_reads=True),
    "table optimized": Kind(3),
    "table put back": Kind(2),
    "table dropped": Kind(2),
    "vacuum before receipts": Kind(2),
    "broker killed": Kind(2, (0, 4)),
    "broker frozen": Kind(2, (2, 8)),
    "transaction left open": Kind(2, (4, 14)),
}


@dataclass(frozen=True)
class Fault:
    """One fault: seconds from the start, its kind, how long it lasts, and which target it takes.

    `share`, from 0 to 1, chooses among the targets that there are when it strikes.
    """

    at: float
    kind: str
    seconds: float
    share: float
    point: str = ""

    def __str__(self) -> str:
        lasts = f", {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.kind}{f' ({self.point})' if self.point else ''}{lasts}"


def faults(seed: int, seconds: float) -> tuple[Fault, ...]:
    """The faults of a soak of that length, in order."""
    dice = Random(f"{seed}: faults")
    found: list[Fault] = []
    re_read_at = SETTLED_IN - APART
    for start, end in storms(seed, seconds):
        at = max(start, FIRST) + dice.uniform(*PAUSE) / 2
        while at < end:
            free = at - re_read_at >= APART
            names = [name for name, kind in KINDS.items() if free or not kind.re_reads]
            name = dice.choices(names, [KINDS[each].weight for each in names])[0]
            found.append(_fault(dice, name, at, end))
            re_read_at = at if KINDS[name].re_reads else re_read_at
            at += dice.uniform(*PAUSE)
    return tuple(found)


def storms(seed: int, seconds: float) -> Iterator[tuple[float, float]]:
    """When faults may strike, and last."""
    dice, start = Random(f"{seed}: storms"), 0.0
    while start < seconds:
        end = start + dice.uniform(*CYCLE)
        yield start, min(start + STORMY * (end - start), seconds)
        start = end


def _fault(dice: Random, name: str, at: float, end: float) -> Fault:
    kind = KINDS[name]
    lasts = min(dice.uniform(*kind.seconds), end - at)
    return Fault(round(at, 2), name, round(lasts, 2), dice.random(), dice.choice(kind.points))
