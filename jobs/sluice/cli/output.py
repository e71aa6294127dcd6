"""Output: what a command found, as a table for people or as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from sluice.cli.completion import pipeline_names
from sluice.offsets.quantities import format_duration

if TYPE_CHECKING:
    from rich.table import Table

# A pipe has no width.
_ENDLESS = 10_000
_GAP = 2
# The width from which on a word of prose may be folded.
_FOLDED = 12

Command = TypeVar("Command", bound=Callable[..., Any])


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


pipeline_argument = partial(click.argument, "pipeline", shell_complete=pipeline_names)


def arguments(command: Command) -> Command:
    """The argument and the option that every command about a pipeline has."""
    return pipeline_argument()(json_option(command))


def nothing_changed(consent: bool = False) -> str:
    """The end of a preview: the options that execute it, with the consent that it needs.

    Without the full stop.
    """
    back = " --bring-back-erased" if consent else ""
    return f"Nothing was changed: --execute --reason …{back} does it"


def print_json(found: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(found, indent=2, default=str))


def moment_document(moment: datetime | None) -> str | None:
    """A moment for programs, in UTC; null for an unknown one."""
    return None if moment is None else moment.astimezone(UTC).isoformat()


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    prose: Collection[str] = (),
) -> None:
    """Print a table; numbers to the right, unknown values as a dash.

    Nothing is ever cut, and only in columns of `prose` a word may be folded. Where the headings,
    names, offsets and times of a row do not fit side by side, they are written as a list, one below
    the other. Into a pipe, which has no width, each row is one line.
    """
    from rich.console import Console
    from rich.text import Text

    found = list(rows)
    shown = [[_shown(value) for value in row] for row in found]
    console = Console(width=None if sys.stdout.isatty() else _ENDLESS, highlight=False)
    room = console.width - _GAP * (len(columns) - 1)
    widths = _widths(columns, shown, prose, room)
    # Not the table's own title, which is folded to the table's width.
    click.echo(title)
    if sum(widths) > room:
        for row in shown:
            click.echo(_list(columns, row))
        return
    table = _empty_table()
    for at, column in enumerate(columns):
        numeric = all(isinstance(row[at], int | float | None) for row in found)
        side: Literal["left", "right"] = "right" if numeric else "left"
        table.add_column(column, justify=side, overflow="fold", width=widths[at])
    for row in shown:
        # Text from outside may look like markup.
        table.add_row(*map(Text, row))
    console.print(table)


def _widths(
    columns: Sequence[str], rows: Sequence[Sequence[str]], prose: Collection[str], room: int
) -> list[int]:
    """The width of each column: no word is broken that must not be, and the rest shares the room.

    Not rich's own: it cuts a text when a column that may shrink meets one that may not (15.0).
    """
    wanted, widths = [], []
    for at, column in enumerate(columns):
        texts = [row[at] for row in rows]
        words = [word for text in texts for word in text.split()]
        least = min(_widest(words), _FOLDED if column in prose else _ENDLESS)
        widths.append(max(least, _widest(column.split())))
        wanted.append(_widest([column, *texts]))
    spare = room - sum(widths)
    narrow_first = sorted(range(len(columns)), key=lambda at: wanted[at] - widths[at])
    for left, at in zip(range(len(columns), 0, -1), narrow_first, strict=True):
        more = max(0, min(wanted[at] - widths[at], spare // left))
        widths[at] += more
        spare -= more
    return widths


def _widest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)


def _empty_table() -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))


def _list(columns: Sequence[str], row: Sequence[str]) -> str:
    """One line for each value; the terminal itself folds what is too long."""
    widest = max(map(len, columns))
    lines = (f"{column:{widest}}  {value}" for column, value in zip(columns, row, strict=True))
    return "\n".join([*lines, ""])


def _shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case int() | float():
            return f"{value:,}"
        case timedelta():
            return format_duration(value)
        case _:
            return str(value)
