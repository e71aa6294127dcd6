"""Bars in a terminal: for each reading, how far, how fast, and the time that is left."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text


class Bars:
    """The bars of one terminal; `unit` is what they count."""

    def __init__(self, progress: Progress, unit: str) -> None:
        self._progress = progress
        self._unit = unit
        self._tasks: dict[Hashable, TaskID] = {}

    def begin(self, read: Hashable, name: str, whole: int) -> None:
        """Show a reading; until the first count, the bar only shows that it is active."""
        self._tasks[read] = self._progress.add_task(
            name, total=None, whole=whole, unit=self._unit + "s" * (whole != 1)
        )

    def reach(self, read: Hashable, done: int, whole: int) -> None:
        """Show how far its reading has got."""
        self._progress.update(self._tasks[read], completed=done, total=whole)

    def hide(self, read: Hashable) -> None:
        """Give its line to others."""
        self._progress.update(self._tasks[read], visible=False)

    def __contains__(self, read: Hashable) -> bool:
        return read in self._tasks


@contextmanager
def shown_bars(console: Console, unit: str) -> Iterator[Bars]:
    """Bars for the block; they disappear at its end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn(
            "{task.completed:,.0f} of {task.fields[whole]:,} {task.fields[unit]}",
            table_column=Column(no_wrap=True),
        ),
        _Speed(Column(no_wrap=True)),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        yield Bars(progress, unit)


class SteadyConsole(Console):
    """Standard error, with its cursor always shown: Ctrl-C ends the process at once, and nothing
    would show a hidden cursor again.
    """

    def show_cursor(self, show: bool = True) -> bool:
        return False


class _Speed(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")
