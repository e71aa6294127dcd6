"""The page of figures: docs/performance.md gets its tables from what a bench has written.

    python -m local.bench.page build/bench.json

No figure on that page is typed by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from local.bench.figures import Shown
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
    begin, end = (f"<!-- {word} of {stored['made']['module']} -->" for word in ("begin", "end"))
    if begin not in page or end not in page:
        raise click.ClickException(f"{PAGE.name}: expected a place between {begin} and {end}")
    before, after = page.partition(begin)[0], page.partition(end)[2]
    tables = [Shown(each["title"], each["lines"]).markdown() for each in stored["tables"]]
    return before + "\n\n".join([begin, _how(stored["made"]), *tables, end]) + after


def _how(made: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return (
        f"Made by `{made['command']}`, {made['at']}, on {made['cores']} cores and"
        f" {made['memory_gib']} GiB; {made['system']}; {versions}."
    )


if __name__ == "__main__":
    main()
