"""Jars as they arrive: a line for each, and in a terminal a bar, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sluice.cli.bars import SteadyConsole, shown_bars


@contextmanager
def shown_arrivals(name: str, whole: int) -> Iterator[Callable[[str, int], None]]:
    """What to call with each jar's name and its size in bytes; `whole` is how many will come."""
    console = SteadyConsole(stderr=True, highlight=False, soft_wrap=True)
    with shown_bars(console, "jar") as bars:
        arrived = 0

        def show(jar: str, size: int) -> None:
            nonlocal arrived
            arrived += 1
            if arrived == 1:
                bars.begin(name, name, whole)
            bars.reach(name, arrived, whole)
            console.print(f"{arrived} of {whole}: {jar}, {size / 1e6:,.1f} MB", markup=False)

        yield show
