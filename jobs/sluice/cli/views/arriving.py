"""Jars as they arrive: a line for each, and in a terminal a bar, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from sluice.cli.bars import Bars, SteadyConsole, shown_bars


@contextmanager
def shown_arrivals(name: str, whole: int) -> Iterator[Callable[[str, int], None]]:
    """What to call with each jar's name and its size in bytes; `whole` is how many will come."""
    console = SteadyConsole(stderr=True, highlight=False, soft_wrap=True)
    with ExitStack() as until_end:
        arrived = 0
        bars: Bars | None = None

        def show(jar: str, size: int) -> None:
            nonlocal arrived, bars
            arrived += 1
            # Where there is none to show, nothing is written, and into a pipe no bar.
            if bars is None and console.is_terminal:
                bars = until_end.enter_context(shown_bars(console, "jar"))
                bars.begin(name, name, whole)
            if bars is not None:
                bars.reach(name, arrived, whole)
            console.print(f"{arrived} of {whole}: {jar}, {size / 1e6:,.1f} MB", markup=False)

        yield show
