"""The folder of jars: where the sets of jars are for the Spark that Sluice starts itself."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sluice.errors import SettingsError
from sluice.lake.jars.jar_set import S3, SPARK, JarSet
from sluice.moves import Move

SETTING = "SLUICE_JARS"


@dataclass(frozen=True)
class JarFolder:
    """A folder with a folder for each set, and the archive of their classes."""

    path: Path

    @classmethod
    def in_environment(cls, environment: Mapping[str, str]) -> JarFolder:
        """The folder of `SLUICE_JARS`, or else the one of this Python environment."""
        if given := environment.get(SETTING):
            return cls(Path(given).absolute())
        return cls(Path(sys.prefix, "share", "sluice", "jars"))

    def of(self, jars: JarSet) -> Path:
        """Where the jars of a set are."""
        return self.path / jars.name

    @property
    def class_archive(self) -> Path:
        """The classes that Spark loads, parsed once; not every installation has it."""
        return self.path / "classes.jsa"

    def has(self, jars: JarSet) -> bool:
        """Whether a set is there, with no other jars, and our own is the one of this package."""
        folder = self.of(jars)
        wrong = jars.lacking_in(folder) or jars.foreign_in(folder)
        return not wrong and jars.has_own_in(folder)

    def require(self, jars: JarSet) -> None:
        """Raises SettingsError, one line with the command, unless the set is there."""
        folder = self.of(jars)
        lacking, all_of_them = jars.lacking_in(folder), len(jars.listed)
        if lacking:
            found = f"{all_of_them - len(lacking)} of them" if folder.is_dir() else "no such folder"
        elif foreign := jars.foreign_in(folder):
            found = f"also {', '.join(foreign)}"
        elif not jars.has_own_in(folder):
            found = f"the {jars.own.name if jars.own else ''} of another Sluice"
        else:
            return
        raise SettingsError(
            f"Spark's jars: expected the {all_of_them} jars of this Sluice in {folder}, found"
            f" {found}. Run ",
            fetching(jars),
            f" once, or set {SETTING} to the folder that has them.",
        )

    def class_path(self, on_s3: bool) -> str:
        """What a JVM needs besides Spark's own jars."""
        folders = map(self.of, (S3, SPARK) if on_s3 else (SPARK,))
        return ":".join(f"{each}/*" for each in folders)


def fetching(jars: JarSet) -> Move:
    """The command that fetches a set."""
    return Move("jars", ("--s3",)) if jars == S3 else Move("jars")
