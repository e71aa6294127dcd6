"""The harness: what every bench has — its folder, its options, what it says, and the file."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import psutil
from rich.console import Console
from rich.table import Table

from local.bench.figures import Shown
from local.embedded.airflow_processes import ROOT

_WIDTH = 120
_PACKAGES = ("pyspark", "delta-spark", "deltalake", "confluent-kafka", "apache-airflow-core")

to_file = click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures too."
)


def number(option: str, usual: int, least: int = 1) -> Callable[..., Any]:
    """An option that is a number."""
    return click.option(option, default=usual, show_default=True, type=click.IntRange(min=least))


class Bench:
    """One run of a bench, named by its module, whose folder is emptied."""

    def __init__(self, module: str, file: Path | None = None) -> None:
        self.folder = empty(ROOT / "build" / module.removeprefix("local.").replace(".", "_"))
        self._console = Console(highlight=False, width=_WIDTH)
        self._made = circumstances(module, sys.argv[1:])
        self._file = file
        # As an exception, so that what was started ends in order.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def say(self, text: str) -> None:
        """A line while it runs."""
        self._console.print(text)

    def write(self, measured: Sequence[Any], shown: Iterable[Shown]) -> None:
        """Write what was measured so far, if a file was asked for: a later failure loses none."""
        if self._file is not None:
            whole = {
                "made": self._made,
                "measured": [asdict(each) for each in measured],
                "tables": [asdict(each) for each in shown],
            }
            text = json.dumps(whole, indent=1, default=str)
            self._file.write_text(f"{text}\n", encoding="utf-8")

    def show(self, tables: Iterable[Shown]) -> None:
        """Print the tables."""
        for each in tables:
            head, *rest = each.lines
            table = Table(*head, title=each.title, title_justify="left")
            for line in rest:
                table.add_row(*line)
            self._console.print(table)


def circumstances(module: str, words: Sequence[str]) -> dict[str, Any]:
    """How and where figures were made, without the machine's name."""
    return {
        "module": module,
        "command": shlex.join(["python", "-m", module, *words]),
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {name: version(name) for name in _PACKAGES},
    }


def empty(folder: Path) -> Path:
    """The folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
