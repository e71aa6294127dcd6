"""The lists of the jars that are fetched, each with its checksum, in the form of `sha256sum`.

    python -m local.jar_checksums resolve | renew

Both fetch the jars of every `ivy.xml` anew, by way of build/ivy, where `make sbom` finds what they
state of themselves. `renew` writes the lists. The difference is to be reviewed: all that is fetched
later is compared with them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sluice.lake.jars.ivy_run import Ivy
from sluice.lake.jars.jar_set import S3, SPARK, JarSet, checksums_in

from local.embedded.broker_jars import BROKER

SETS = (S3, SPARK, BROKER)
CACHE = Path(__file__).resolve().parents[1] / "build" / "ivy"


def lines_of(folder: Path) -> list[str]:
    """A line for each jar of a set, whose name is its folder's."""
    found = checksums_in(folder).items()
    return [f"{checksum}  {folder.name}/{name}\n" for name, checksum in found]


def resolved() -> Iterator[tuple[JarSet, list[str]]]:
    """Each set, and the lines of the jars that are fetched for it now."""
    ivy = Ivy(os.environ)
    with TemporaryDirectory() as made:
        for each in SETS:
            folder = Path(made, each.name)
            ivy.retrieve(each, folder, CACHE, lambda *_: None)
            yield each, lines_of(folder)


def renew() -> None:
    """Write the lists; one may have several sets."""
    lists: dict[Path, list[str]] = {}
    for each, lines in resolved():
        lists.setdefault(each.checksums, []).extend(lines)
    for file, lines in lists.items():
        file.write_text("".join(lines), encoding="utf-8")
        print(f"{file}: {len(lines)} jars")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["resolve"]:
            for jars, found in resolved():
                print(f"{jars.name}: {len(found)} jars")
        case ["renew"]:
            renew()
        case _:
            sys.exit(__doc__)
