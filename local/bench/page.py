"""The page of figures: docs/performance.md gets its tables from what a bench has written.

    python -m local.bench.page build/bench.json

No figure on that page is typed by hand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from local.embedded.airflow_processes import ROOT

PAGE = ROOT / "docs" / "performance.md"


@click.command(help=__doc__)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(file: Path) -> None:
    """Put the tables of the file in their place on the page."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    page = with_figures(PAGE.read_text(encoding="utf-8"), stored)
    PAGE.write_text(page, encoding="utf-8")


def with_figures(page: str, stored: dict[str, Any]) -> str:
    """The page with other figures between the two marks of their bench."""
    made = stored["made"]
    begin, end = (f"<!-- {word} of {made['module']} -->" for word in ("begin", "end"))
    if begin not in page or end not in page:
        raise click.ClickException(f"{PAGE.name}: expected a place between {begin} and {end}")
    before, after = page.partition(begin)[0], page.partition(end)[2]
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    how = (
        f"Made by `{made['command']}`, {made['at']}, on {made['cores']} cores and"
        f" {made['memory_gib']} GiB; {made['system']}; {versions}."
    )
    tables = [_markdown(each["title"], each["lines"]) for each in stored["tables"]]
    return before + "\n\n".join([begin, how, *tables, end]) + after


def _markdown(title: str, lines: Sequence[Sequence[str]]) -> str:
    head, *rest = lines
    rows = [head, ["---"] * len(head), *rest]
    return "\n".join([f"**{title}**", "", *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    main()
