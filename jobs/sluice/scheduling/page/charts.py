"""Charts: what changed from batch to batch, as bars of a plain SVG. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 120
_PAD = 4
_WIDEST = 40.0


@dataclass(frozen=True)
class Value:
    """One batch by name: its number, None where it is unknown, and that in words."""

    name: str
    number: float | None
    told: str


@dataclass(frozen=True)
class Bar:
    """Where the bar of one batch is, in units of the drawing, and what it says."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Bars of one quantity, scaled to the largest; `summary` says in words what they show."""

    title: str
    bars: tuple[Bar, ...]
    summary: str


def chart(title: str, values: Sequence[Value]) -> Chart:
    """A bar for each value that is known, the first one on the left."""
    known = [each for each in values if each.number is not None]
    if not known:
        return Chart(title, (), f"{title}: unknown")
    largest = max(known, key=_number)
    step = min((WIDTH - 2 * _PAD) / len(values), _WIDEST)
    top = _number(largest) or 1.0
    bars = tuple(
        _bar(at, step, _number(each) / top, f"{each.name}: {each.told}")
        for at, each in enumerate(values)
        if each.number is not None
    )
    newest, name = known[-1].told, largest.name
    summary = f"{title} of {len(known)} batches: at most {largest.told} ({name}), last {newest}"
    return Chart(title, bars, summary)


def _bar(at: int, step: float, share: float, label: str) -> Bar:
    # What is zero is a line, to be told apart from what is unknown.
    height = max((HEIGHT - 2 * _PAD) * share, 1.0)
    left, gap = _PAD + at * step, min(2.0, step / 4)
    return Bar(
        round(left, 2),
        round(HEIGHT - _PAD - height, 2),
        round(step - gap, 2),
        round(height, 2),
        label,
    )


def _number(value: Value) -> float:
    return value.number or 0.0
