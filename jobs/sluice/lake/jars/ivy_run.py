"""A run of Ivy, which pyspark has among its jars: it resolves a set of jars and downloads them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from sluice.errors import SettingsError
from sluice.lake.jars.jar_set import JarSet
from sluice.lake.jars.supplied import spark_home

MIRROR = "IVY_SETTINGS"
# `[SUCCESSFUL ] io.delta#delta-storage;4.4.0!delta-storage.jar (112ms)`.
_ARRIVED = re.compile(
    r"\[SUCCESSFUL \] [^;]+;(?P<revision>[^!]+)!(?P<name>.+)\.(?P<ending>\w+)(?:\(\w+\))? \(\d+ms\)"
)
# The lines in which Ivy says why a jar is missing.
_WHY = re.compile(
    r"not found|FAILED|SERVER ERROR|UnknownHost|refused|timed out|certificate|: 4\d\d"
)
_SHOWN = 3

Arrived = Callable[[str, int], None]
"""Is called with each jar's name and its size in bytes."""


class Ivy:
    """Ivy, with the Java that runs it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Raises SettingsError without Java, and without pyspark."""
        self._command = [_java(environment), "-jar", str(_ivy_jar(environment))]
        if settings := environment.get(MIRROR):
            if not Path(settings).is_file():
                raise SettingsError(f"{MIRROR}: expected Ivy's settings, found no file {settings}")
            self._command += ["-settings", settings]

    def retrieve(self, jars: JarSet, folder: Path, cache: Path, arrived: Arrived) -> None:
        """Download a set of jars into the folder. Raises SettingsError, with Ivy's reasons."""
        words = ["-ivy", str(jars.ivy), "-confs", jars.name, "-types", "jar", "bundle"]
        words += ["-cache", str(cache), "-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
        lines = []
        with subprocess.Popen(
            [*self._command, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as running:
            assert running.stdout is not None
            try:
                for line in running.stdout:
                    lines.append(line.strip())
                    if found := _ARRIVED.search(line):
                        name = f"{found['name']}-{found['revision']}.{found['ending']}"
                        arrived(name, _size_in(cache, name))
            except BaseException:
                # It would be waited for.
                running.terminate()
                raise
        if running.returncode:
            raise SettingsError(
                f"{jars.name}: the jars could not be fetched: {_reasons(lines)}. Repair the"
                f" network and repeat; {MIRROR}=FILE names the Ivy settings of a mirror"
            )


def _java(environment: Mapping[str, str]) -> str:
    home = environment.get("JAVA_HOME")
    found = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if found is None:
        where = f"in JAVA_HOME, {home}" if home else "on PATH, and JAVA_HOME is not set"
        raise SettingsError(
            f"Java: expected a JDK, 17 or 21, found no `java` {where}. Install one, or set"
            " JAVA_HOME to one"
        )
    return found


def _ivy_jar(environment: Mapping[str, str]) -> Path:
    home = spark_home(environment)
    found = sorted((home / "jars").glob("ivy-*.jar")) if home else []
    if not found:
        place = f"no jars in {home}" if home else "no pyspark"
        raise SettingsError(
            f"pyspark: expected the whole Spark, which brings Ivy, found {place}. Install Sluice"
            " with its extra `spark`. With a Spark server only, no jars are needed here"
        )
    return found[-1]


def _reasons(lines: list[str]) -> str:
    found = list(dict.fromkeys(line.strip(":\t ") for line in lines if _WHY.search(line)))
    more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN] or lines[-_SHOWN:]) + more


def _size_in(cache: Path, name: str) -> int:
    return next((each.stat().st_size for each in cache.rglob(name)), 0)
