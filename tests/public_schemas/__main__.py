"""Check the schemas of packages as a pipeline's, and count what becomes of them.

    python -m tests.public_schemas

Exits with 1 if any of them crashes `check`, or loses a field that `check` does not tell.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from local.embedded.airflow_processes import ROOT
from tests.public_schemas.candidates import (
    Candidate,
    Messages,
    avro_candidates,
    json_candidates,
)
from tests.public_schemas.moves import Files
from tests.public_schemas.outcomes import Outcome, outcome_of
from tests.public_schemas.packages import fetch

FOLDER = ROOT / "build" / "public_schemas"
_KINDS = ("json", "avro", "protobuf")
_COUNTED = ("tried", "accepted", "of them told", "after schema_files", "refused", "lost", "crashed")


@click.command(help=__doc__)
@click.option("--package", "only", help="This package alone.")
def main(only: str | None) -> None:
    console = Console(highlight=False)
    fetch(FOLDER)
    packages = [each for each in sorted(FOLDER.iterdir()) if only in (None, each.name)]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in _KINDS}
    reasons: Counter[str] = Counter()
    messages = Messages(packages)
    for package in packages:
        files = Files(package)
        for candidate in _candidates(package, messages):
            counted = counts[str(candidate.format["type"])]
            counted["tried"] += 1
            try:
                found = outcome_of(candidate, package, files)
            except Exception:
                counted["crashed"] += 1
                console.print(f"{candidate}\n{traceback.format_exc()}", markup=False)
            else:
                _count(found, counted, reasons, lambda text: console.print(text, markup=False))
    console.print(_table(counts))
    for reason, number in reasons.most_common():
        console.print(f"{number:6,}  {reason}", markup=False, soft_wrap=True)
    sys.exit(1 if any(each["lost"] + each["crashed"] for each in counts.values()) else 0)


def _candidates(package: Path, messages: Messages) -> Iterator[Candidate]:
    yield from json_candidates(package)
    yield from avro_candidates(package)
    yield from messages.candidates(package)


def _count(
    found: Outcome, counted: Counter[str], reasons: Counter[str], say: Callable[[str], None]
) -> None:
    if found.declared is None:
        counted["refused"] += 1
        reasons[_kind_of(found.refusal)] += 1
        return
    counted["accepted"] += 1
    counted["of them told"] += bool(found.declared.unread or found.declared.as_text)
    counted["after schema_files"] += bool(found.followed)
    if found.lost:
        counted["lost"] += 1
        say(f"{found.candidate.package}: {found.candidate.place}: lost {found.lost}")


def _kind_of(refusal: str) -> str:
    """A refusal without what is of this schema alone."""
    told = refusal.splitlines()[0].partition("expected ")
    return re.sub(r"'[^']*'|\S*[./$]\S*[^.,;:\s]", "…", f"{told[1]}{told[2]}")


def _table(counts: dict[str, Counter[str]]) -> Table:
    table = Table("", *_COUNTED)
    for kind, counted in counts.items():
        table.add_row(kind, *(f"{counted[each]:,}" for each in _COUNTED))
    return table


if __name__ == "__main__":
    main()
