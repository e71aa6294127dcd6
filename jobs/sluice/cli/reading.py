"""A long reading: how far it has got, on standard error; bars in a terminal, else a line now and
then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange

if TYPE_CHECKING:
    from rich.progress import TaskID

_SECONDS = 5.0

Reached = Callable[[OffsetRange, int], None]
"""Takes the range that is being read, and the next offset to read of it."""


@contextmanager
def shown_reading(quiet: bool) -> Iterator[Reached]:
    """Show how far the block's reading has got; nothing if `quiet`, as beside JSON."""
    if quiet:
        yield lambda wanted, offset: None
    elif sys.stderr.isatty():
        with _bars() as reached:
            yield reached
    else:
        yield Lines(lambda line: click.echo(line, err=True), time.monotonic)


class Lines:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._write = write
        self._clock = clock
        self._last = clock()

    def __call__(self, wanted: OffsetRange, offset: int) -> None:
        now = self._clock()
        if now - self._last >= _SECONDS:
            self._last = now
            whole = format_count(wanted.span, "offset")
            self._write(f"reading {wanted.partition}: {offset - wanted.start:,} of {whole}")


@contextmanager
def _bars() -> Iterator[Reached]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bars: dict[OffsetRange, TaskID] = {}

        def reached(wanted: OffsetRange, offset: int) -> None:
            if wanted not in bars:
                bars[wanted] = progress.add_task(str(wanted.partition), total=wanted.span)
            progress.update(bars[wanted], completed=offset - wanted.start)
            if offset >= wanted.end:
                # A topic may have more partitions than a terminal has lines.
                progress.update(bars[wanted], visible=False)

        yield reached
