"""A plain environment: an Airflow as its users have it, and beside it the wheel, by file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UV = str(Path(sys.executable).with_name("uv"))
PROVIDER = "apache-airflow-providers-apache-spark"
# Both have a part in Spark's folder, and their versions are ours: docs/deployment.md.
OURS_TO_CHOOSE = ("pyspark", "pandas")


@dataclass(frozen=True)
class PlainEnvironment:
    """A virtual environment that knows nothing of the checkout."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(
        self, command: str, *words: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """One of its commands, to its end."""
        return subprocess.run(
            [str(self.folder / "bin" / command), *words],
            cwd=self.folder,
            env=outside_the_checkout() | environment,
            capture_output=True,
            text=True,
            check=False,
        )


def outside_the_checkout() -> dict[str, str]:
    """This process's environment, without what names our sources, our jars or another Airflow."""
    hidden = ("AIRFLOW", "SLUICE_WAREHOUSE", "SLUICE_PIPELINES", "SLUICE_JARS", "PYTHON", "VIRTUAL")
    return {name: text for name, text in os.environ.items() if not name.startswith(hidden)}


def wheel() -> Path:
    """What `make wheel` built."""
    (found,) = (ROOT / "dist").glob("sluice-*.whl")
    return found


def installed(folder: Path, airflow: str, as_of: str) -> PlainEnvironment:
    """Airflow in this version with what it had on that day, then the wheel with its extras.

    The versions of that day stand for the constraints that Airflow publishes with each release.
    """
    constraints = folder / "constraints.txt"
    wanted = folder / "airflow.in"
    wanted.write_text(f"apache-airflow=={airflow}\n{PROVIDER}\n", encoding="utf-8")
    found = _uv("pip", "compile", "--no-header", "--no-annotate", "--exclude-newer", as_of, wanted)
    kept = [each for each in found.splitlines() if not each.startswith(OURS_TO_CHOOSE)]
    constraints.write_text("\n".join(kept) + "\n", encoding="utf-8")
    made = PlainEnvironment(folder / "environment")
    _uv("venv", "--python", sys.executable, made.folder)
    into = ("pip", "install", "--python", made.python, "-c", constraints)
    _uv(*into, "-r", wanted)
    _uv(*into, f"sluice[airflow,spark,registry] @ {wheel().as_uri()}")
    return made


def _uv(*words: str | Path) -> str:
    command: Sequence[str] = [UV, "--quiet", *map(str, words)]
    done = subprocess.run(
        command, env=outside_the_checkout(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
