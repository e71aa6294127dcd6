"""Charts: what changed from batch to batch, as points for a plain SVG. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 120
_PAD = 4


@dataclass(frozen=True)
class Bar:
    """One batch: where its bar is, and what it says."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Bars of one quantity, scaled to the largest, and that in words."""

    title: str
    bars: tuple[Bar, ...]
    largest: str


def chart(title: str, values: Sequence[tuple[str, float | None, str]]) -> Chart:
    """A bar for each value: a name, a number (None: unknown, no bar), and the number in words."""
    known = [(number, told) for _, number, told in values if number is not None]
    top, largest = max(known, default=(0.0, "none"))
    step = (WIDTH - 2 * _PAD) / max(len(values), 1)
    bars = []
    for at, (name, number, told) in enumerate(values):
        if number is None:
            continue
        height = (HEIGHT - 2 * _PAD) * (number / top if top else 0)
        left = _PAD + at * step
        bars.append(Bar(left, HEIGHT - _PAD - height, max(step - 1, 1), height, f"{name}: {told}"))
    return Chart(title, tuple(bars), largest)
