"""The report: the figures as tables, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from local.bench.comparisons import COMPARISONS
from local.bench.contenders import ENTRIES
from local.bench.figures import Size

Rows = Sequence[Sequence[str]]


def tables(size: Size) -> Iterator[tuple[str, Rows]]:
    """Two tables, each with its heading first: the contenders, and the ratios."""
    turns = size.turns
    what = f"{size.records:,} records of {size.bytes_each} bytes"
    contenders = [
        (name, entry.what, f"{turns.median(name):.1f}", _all(turns.seconds[name], 1))
        for name, entry in ENTRIES.items()
        if name in turns.seconds
    ]
    yield what, [("contender", "what it runs", "median, s", "all turns, s"), *contenders]
    ratios = [
        (
            str(each),
            f"{found.median:.2f}",
            "" if found.at_most is None else f"{found.at_most:.2f}",
            found.word,
            _all(found.ratios, 2),
        )
        for each in COMPARISONS
        if (found := turns.verdict(each, size.records))
    ]
    yield f"{what}: ratios", [("ratio", "median", "at most", "", "all pairs"), *ratios]


def _all(values: Sequence[float], digits: int) -> str:
    return " ".join(f"{value:.{digits}f}" for value in values)


def show(console: Console, named: Iterator[tuple[str, Rows]]) -> None:
    """Print the tables."""
    for title, (head, *rows) in named:
        table = Table(*head, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        console.print(table)


def markdown(named: Iterator[tuple[str, Rows]]) -> str:
    """The tables as a page has them."""
    return "\n\n".join(
        f"**{title}**\n\n" + "\n".join([_line(head), _line(["---"] * len(head)), *map(_line, rows)])
        for title, (head, *rows) in named
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
