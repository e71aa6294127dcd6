"""A long reading: how far it has got, on standard error; bars in a terminal, else a line now and
then.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from sluice.lake.port import ShowReading, Tell
from sluice.offsets.quantities import format_count
from sluice.offsets.ranges import OffsetRange

if TYPE_CHECKING:
    from rich.console import Console

_SECONDS = 5.0

Reached = Callable[[OffsetRange, int], None]
"""Takes the range that is being read, and the next offset to read of it."""


@contextmanager
def shown_reading(quiet: bool) -> Iterator[Reached]:
    """Show how far the block's reading has got; nothing if `quiet`, as beside JSON."""
    if quiet:
        yield lambda wanted, offset: None
    elif console := _terminal():
        with _partition_bars(console) as reached:
            yield reached
    else:
        yield Lines(lambda line: click.echo(line, err=True), time.monotonic)


def bars_of_batches() -> ShowReading | None:
    """How a terminal shows the batch that Spark reads; None elsewhere: lines are logged."""
    console = _terminal()
    return None if console is None else partial(_batch_bar, console)


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


def _terminal() -> Console | None:
    """The terminal, if bars can be shown in it; among the lines of `--verbose` they would tear."""
    if not sys.stderr.isatty() or logging.getLogger().isEnabledFor(logging.INFO):
        return None
    from sluice.cli.bars import SteadyConsole

    console = SteadyConsole(stderr=True)
    return console if console.is_terminal and not console.is_dumb_terminal else None


@contextmanager
def _partition_bars(console: Console) -> Iterator[Reached]:
    from sluice.cli.bars import shown_bars

    with shown_bars(console, "offset") as bars:

        def reached(wanted: OffsetRange, offset: int) -> None:
            if wanted not in bars:
                bars.begin(wanted, str(wanted.partition), wanted.span)
            bars.reach(wanted, offset - wanted.start, wanted.span)
            if offset >= wanted.end:
                # A topic may have more partitions than a terminal has lines.
                bars.hide(wanted)

        yield reached


@contextmanager
def _batch_bar(console: Console, batch: str, offsets: int) -> Iterator[Tell]:
    from sluice.cli.bars import shown_bars

    with shown_bars(console, "record") as bars:
        bars.begin(batch, batch, offsets)
        yield lambda pace: bars.reach(batch, pace.done, pace.offsets)
