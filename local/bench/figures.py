"""The figures: what a bench has measured, how, and where; on disk they are JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import psutil

from local.bench.turns import Turns

_PACKAGES = ("pyspark", "delta-spark", "deltalake", "confluent-kafka", "apache-airflow-core")


@dataclass
class Size:
    """The turns with one number of records."""

    records: int
    bytes_each: int
    partitions: int
    turns: Turns = field(default_factory=Turns)


@dataclass
class Figures:
    """All sizes of a bench, with the command that made them."""

    made: dict[str, Any]
    sizes: list[Size] = field(default_factory=list)

    @classmethod
    def of(cls, command: str) -> Self:
        """No figures yet."""
        return cls(circumstances(command))

    def write(self, file: Path | None) -> None:
        """Write what there is so far, if a file was asked for."""
        if file is not None:
            file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Self:
        """What `write` has written."""
        stored = json.loads(file.read_text(encoding="utf-8"))
        sizes = [Size(**{**each, "turns": Turns(**each["turns"])}) for each in stored["sizes"]]
        return cls(stored["made"], sizes)


def circumstances(command: str) -> dict[str, Any]:
    """How and where figures were made, without the machine's name."""
    return {
        "command": command,
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {name: version(name) for name in _PACKAGES},
    }


def command_line(module: str, words: Sequence[str]) -> str:
    """The command as a user types it."""
    return " ".join(["python", "-m", module, *words])
