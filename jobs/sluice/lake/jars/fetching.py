"""Fetching: a set of jars is downloaded, compared with its list, and put into its place at once."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sluice.errors import SettingsError
from sluice.lake.jars.ivy_run import Arrived, Ivy
from sluice.lake.jars.jar_folder import SETTING, JarFolder
from sluice.lake.jars.jar_set import JarSet
from sluice.moves import Move

_UNFINISHED = ".fetching-"


def fetch(
    jars: JarSet, folder: JarFolder, environment: Mapping[str, str], arrived: Arrived
) -> bool:
    """Bring a set of jars into the folder; False if all of them are there as they are listed.

    Until all have come and equal their checksums, the folder keeps what it has. Raises
    SettingsError, with the next move.
    """
    place = folder.of(jars)
    if _is_whole(jars, place):
        return False
    with _alone_in(folder):
        fetched = bool(jars.differences_in(place))
        if fetched:
            ivy = Ivy(environment)
            with TemporaryDirectory(dir=folder.path, prefix=_UNFINISHED) as made:
                new = Path(made, "new")
                ivy.retrieve(jars, new, Path(made, "cache"), arrived)
                _require_listed(jars, new)
                if place.exists():
                    place.rename(Path(made, "old"))
                new.rename(place)
        if jars.own is not None and not jars.has_own_in(place):
            shutil.copyfile(jars.own, place / f"{jars.own.name}.new")
            (place / f"{jars.own.name}.new").rename(place / jars.own.name)
        return fetched


def _is_whole(jars: JarSet, place: Path) -> bool:
    """Whether there is nothing to do, and so nothing to write there.

    What cannot be read, perhaps as another process is replacing it, is not whole.
    """
    with suppress(OSError):
        return jars.has_own_in(place) and not jars.differences_in(place)
    return False


@contextmanager
def _alone_in(folder: JarFolder) -> Iterator[None]:
    """The right to write there; another process that has it is waited for."""
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        with (folder.path / ".lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Left by processes that were killed.
            for each in folder.path.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(each)
            yield
    except OSError as problem:
        raise SettingsError(
            f"{folder.path}: expected a folder that can be written, found: {problem}. Run ",
            Move("jars", ("--to", "DIR")),
            f" with another one, and set {SETTING} to it.",
        ) from problem


def _require_listed(jars: JarSet, folder: Path) -> None:
    if wrong := jars.differences_in(folder):
        lines = "".join(f"\n  {each}" for each in wrong)
        raise SettingsError(
            f"{jars.name}: {len(wrong)} jars are not as {jars.checksums.name} lists them:{lines}\n"
            "All of them were deleted, and none was run. Do not trust the place that they came from"
        )
