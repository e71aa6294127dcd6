"""A plot: shapes over a time axis, as a plain SVG whose texts keep their size. Pure.

Places are in percent of the picture: across from the left, up and down from the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

BOTTOM = 100.0
# Free above the highest value, so that its line is seen.
_TOP = 4.0
# What is shorter is still seen.
_LEAST = 0.4


@dataclass(frozen=True)
class Box:
    """A rectangle of a `kind`, which the style colours, and what it says."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class Line:
    """A line as an SVG path, and the area below it."""

    path: str
    area: str


@dataclass(frozen=True)
class Plot:
    """A picture: its title, what it shows in words, and its shapes.

    `top` is what its upper edge stands for. `keys` say what the kinds of boxes mean, `rows` what
    its rows are, from the top.
    """

    title: str
    summary: str
    top: str = ""
    lines: tuple[Line, ...] = ()
    boxes: tuple[Box, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    rows: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.lines and not self.boxes


def height_of(value: float, largest: float) -> float:
    """How high a value is; what is not zero is seen."""
    if value <= 0 or largest <= 0:
        return 0.0
    return round(max(_LEAST, (BOTTOM - _TOP) * value / largest), 3)


def wide(start: float, end: float) -> tuple[float, float]:
    """Where a span begins, and how wide it is: at least so that it is seen."""
    width = max(_LEAST, end - start)
    return round(min(start, 100.0 - width), 3), round(width, 3)


def line_through(points: Sequence[tuple[float, float]]) -> Line:
    """A line that goes straight from each height to the next; at least two points."""
    (x, height), *others = points
    path = f"M{x:g} {BOTTOM - height:g}" + "".join(
        f"L{at:g} {BOTTOM - each:g}" for at, each in others
    )
    return Line(path, f"{path}V{BOTTOM:g}H{x:g}Z")


def step_line(points: Sequence[tuple[float, float]]) -> Line:
    """A line that keeps each height until the next point; at least two points."""
    corners = (
        corner
        for (_, height), (at, after) in pairwise(points)
        for corner in ((at, height), (at, after))
    )
    return line_through([points[0], *corners])
