"""Locked parts: the Python packages and the jars that an installation has, with their versions."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import S3, SPARK

from local.audit.versions import Ecosystem
from local.embedded.broker_jars import BROKER, FOLDER

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-sbom.txt")
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*])?==(\S+)", re.MULTILINE)
# The last such text in a name is its version: log4j-1.2-api-2.25.4, zstd-jni-1.5.7-17.
_VERSION = re.compile(r"(.+)-(\d+\.\d.*)\.jar")
_NOTE = re.compile(r"META-INF/maven/([^/]+)/([^/]+)/pom\.properties")


@dataclass(frozen=True, order=True)
class Part:
    """A package or a jar; `group` is that of Maven, where the jar names it."""

    place: str
    ecosystem: Ecosystem
    name: str
    version: str
    group: str | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.name} {self.version}"


def plain(name: str) -> str:
    """A Python package's name, as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(text: str, place: str) -> Iterator[Part]:
    """The packages of a lock."""
    for name, version in _PINNED.findall(text):
        yield Part(place, "pypi", plain(name), version)


def jars(names: Iterable[str], place: str) -> Iterator[Part]:
    """The jars of these file names; those without a version are left out."""
    for name in names:
        if found := _VERSION.fullmatch(name):
            yield Part(place, "maven", found[1], found[2])


def everything() -> list[Part]:
    """The parts of the locks, and the jars inside the installed pyspark."""
    import pyspark

    found = [each for lock in LOCKS for each in packages((ROOT / lock).read_text(), lock)]
    spark = JarFolder.in_environment(os.environ)
    for folder, jar_set in ((spark, SPARK), (spark, S3), (FOLDER, BROKER)):
        for name in jar_set.listed:
            found += _jar(folder.of(jar_set) / name, f"jars/{jar_set.name}")
    for inside in sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar")):
        found += _jar(inside, "pyspark/jars")
    return found


def _jar(file: Path, place: str) -> Iterator[Part]:
    for part in jars([file.name], place):
        yield replace(part, group=_group(file, part.name)) if file.is_file() else part


def _group(file: Path, artifact: str) -> str | None:
    """As Maven's own note in the jar says it; None where there is no such note."""
    with zipfile.ZipFile(file) as opened:
        notes = [_NOTE.fullmatch(name) for name in opened.namelist()]
    groups = {each[1] for each in notes if each and each[2] == artifact}
    return groups.pop() if len(groups) == 1 else None
