"""The figures of a bench: what was measured, how and where, and the tables that show it."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

WIDTH = 120
_PACKAGES = ("pyspark", "delta-spark", "deltalake", "confluent-kafka", "apache-airflow-core")


@dataclass(frozen=True)
class Shown:
    """A table as text: a title, and lines of which the first is the head."""

    title: str
    lines: Sequence[Sequence[str]]

    def print(self, console: Console) -> None:
        """Print it on a terminal."""
        head, *rest = self.lines
        table = Table(*head, title=self.title, title_justify="left")
        for line in rest:
            table.add_row(*line)
        console.print(table)

    def markdown(self) -> str:
        """The same for a page."""
        head, *rest = self.lines
        lines = [head, ["---"] * len(head), *rest]
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(each)} |" for each in lines)])


def write(
    file: Path | None, made: dict[str, Any], measured: Sequence[Any], shown: Iterable[Shown]
) -> None:
    """Write what was measured, if a file was asked for."""
    if file is not None:
        whole = {
            "made": made,
            "measured": [asdict(each) for each in measured],
            "tables": [asdict(each) for each in shown],
        }
        file.write_text(json.dumps(whole, indent=1, default=str) + "\n", encoding="utf-8")


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


def all_of(values: Sequence[float], digits: int) -> str:
    """Every single value: a median hides how far they lie apart."""
    return " ".join(f"{value:.{digits}f}" for value in values)
