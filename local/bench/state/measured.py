"""What was measured: seconds, ratios, growth, and bytes rewritten, as tables of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from local.bench.figures import Shown, compared, judged, taken
from local.bench.state.feed import Load
from local.bench.state.stage import COLD, CONTENDERS, LESS, LIKE, OURS, WARM
from local.bench.turns import Comparison, Size

_AT_MOST, _GROWTH = 0.8, 2.0
# The keys of the growth, to those of before.
TIMES = 10


@dataclass
class Measured:
    """The turns with a load, and the bytes rewritten for a changed row, by contender."""

    load: Load
    size: Size
    bytes_each: dict[str, float] = field(default_factory=dict)


def tables(measured: Sequence[Measured]) -> list[Shown]:
    """All tables, with what is measured so far."""
    return [*(shown for each in measured for shown in _of_load(each)), *_growth(measured)]


def _of_load(each: Measured) -> Iterator[Shown]:
    cells = {
        name: (runs, f"{each.bytes_each.get(name, 0):,.0f}") for name, runs in CONTENDERS.items()
    }
    head = ("contender", "what it runs", "bytes a changed row")
    yield taken(str(each.load), head, cells, each.size)
    at_most = {each.size.records: _AT_MOST}
    comparisons = [
        *(Comparison(f"{OURS}-{how}", f"{LIKE}-{how}", at_most) for how in (COLD, WARM)),
        *(Comparison(f"{OURS}-{how}", f"{LESS}-{how}") for how in (COLD, WARM)),
        *(Comparison(f"{LIKE}-{how}", f"{LESS}-{how}") for how in (COLD, WARM)),
    ]
    yield from compared(str(each.load), comparisons, each.size)


def _growth(measured: Sequence[Measured]) -> Iterator[Shown]:
    """The medians with ten times as many keys, to those before; only Sluice's have a limit."""
    for many in measured:
        fewer = replace(many.load, keys=many.load.keys // TIMES)
        few = [each for each in measured if each.load == fewer]
        if not few:
            continue
        lines = []
        for name in many.size.turns.seconds:
            ratio = many.size.turns.median(name) / few[0].size.turns.median(name)
            at_most = _GROWTH if name.startswith(OURS) else None
            lines.append((name, *judged([ratio], at_most, 2, 2)))
        head = ("contender", "times as long", "at most", "")
        yield Shown(f"{many.load}, to {few[0].load}", [head, *lines])
