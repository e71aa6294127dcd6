"""A set of jars: which ones, by name and checksum, and what Ivy fetches them with."""

from __future__ import annotations

import filecmp
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class JarSet:
    """The jars of one configuration of an `ivy.xml`; they go into a folder of its name.

    `checksums` is a list in the form of `sha256sum`, with lines of several sets. `own` is the jar
    of our own classes that belongs to them.
    """

    name: str
    ivy: Path
    checksums: Path
    own: Path | None = None

    @cached_property
    def listed(self) -> Mapping[str, str]:
        """The SHA-256 of each jar, by its name, such as `delta-storage-4.4.0.jar`."""
        found = {}
        for line in self.checksums.read_text(encoding="utf-8").splitlines():
            checksum, _, file = line.partition("  ")
            folder, _, name = file.partition("/")
            if folder == self.name:
                found[name] = checksum
        return found

    def lacking_in(self, folder: Path) -> list[str]:
        """The names of those that are not in this folder; the contents are not compared."""
        there = {each.name for each in folder.glob("*.jar")}
        return [name for name in self.listed if name not in there]

    def foreign_in(self, folder: Path) -> list[str]:
        """The names of jars in this folder that are neither listed nor our own."""
        ours = {*self.listed, *([self.own.name] if self.own else [])}
        return sorted(each.name for each in folder.glob("*.jar") if each.name not in ours)

    def has_own_in(self, folder: Path) -> bool:
        """Whether this folder has our own jar as the package has it, or the package has no jar."""
        if self.own is None or not self.own.is_file():
            return True
        copy = folder / self.own.name
        return copy.is_file() and filecmp.cmp(self.own, copy, shallow=False)

    def differences_in(self, folder: Path) -> list[str]:
        """A line for each jar that is not as it is listed, by its checksum, or is not listed."""
        own = self.own.name if self.own else None
        found = {name: each for name, each in checksums_in(folder).items() if name != own}
        return [
            f"{self.name}/{name}: expected {self.listed.get(name, 'no such file')},"
            f" found {found.get(name, 'none')}"
            for name in sorted({*self.listed, *found})
            if self.listed.get(name) != found.get(name)
        ]


def checksums_in(folder: Path) -> dict[str, str]:
    """The SHA-256 of each jar in a folder, by its name."""
    jars = sorted(folder.glob("*.jar"))
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in jars}


_IVY, _CHECKSUMS = _HERE / "ivy.xml", _HERE / "jars.sha256"
# Kafka's and Delta's; and what a warehouse on S3 needs besides.
SPARK = JarSet("spark", _IVY, _CHECKSUMS, _HERE / "sluice.jar")
S3 = JarSet("s3", _IVY, _CHECKSUMS, _HERE / "sluice-s3.jar")
