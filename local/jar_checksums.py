"""The checksums of all jars that are fetched: jars.sha256, in the form of `sha256sum`.

    python -m local.jar_checksums verify FOLDER... | renew

`verify` refuses a jar that differs, is missing or is not listed; `renew` lists what is there.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "jars.sha256"
JARS = ROOT / "build" / "jars"


def listed(text: str) -> dict[str, str]:
    """Checksums by file: `spark/delta-storage-4.4.0.jar`."""
    pairs = (line.split(maxsplit=1) for line in text.splitlines())
    return {name: checksum for checksum, name in pairs}


def found_in(jars: Path, folders: Iterable[str]) -> dict[str, str]:
    """The checksums of the jars in these folders, without our own: those are compiled here."""
    files = (file for each in folders for file in sorted((jars / each).glob("*.jar")))
    return {
        f"{file.parent.name}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if not file.name.startswith("sluice")
    }


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """A line for each jar that is not as it is listed."""
    return [
        f"{name}: expected {expected.get(name, 'no such file')}, found {found.get(name, 'none')}"
        for name in sorted({*expected, *found})
        if expected.get(name) != found.get(name)
    ]


def verify(folders: list[str]) -> None:
    """Exit with a message unless the jars in these folders are exactly those that are listed."""
    wanted = {
        name: checksum
        for name, checksum in listed(LIST.read_text(encoding="utf-8")).items()
        if name.partition("/")[0] in folders
    }
    if wrong := differences(wanted, found_in(JARS, folders)):
        lines = "\n".join(f"  build/jars/{each}" for each in wrong)
        sys.exit(
            f"jars.sha256: these jars are not as they are listed:\n{lines}\n"
            "Nothing of them was run. If ivy.xml was changed, `make lock` lists them anew, and its"
            " difference is yours to review; otherwise do not trust where they came from."
        )


def renew() -> None:
    """List the jars that are there."""
    there = found_in(JARS, sorted(each.name for each in JARS.iterdir() if each.is_dir()))
    lines = [f"{checksum}  {name}\n" for name, checksum in there.items()]
    LIST.write_text("".join(lines), encoding="utf-8")
    print(f"jars.sha256: {len(there)} jars")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["verify", *folders] if folders:
            verify(folders)
        case ["renew"]:
            renew()
        case _:
            sys.exit(__doc__)
