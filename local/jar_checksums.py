"""The checksums of the JVM artifacts: jars.sha256, in the form that `sha256sum` writes and reads.

`local/setup.sh` checks each folder of build/jars that is there, before anything of it runs;
`make lock` writes the file anew. Sluice's own jar is built on this machine, and not listed.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

LIST = Path("jars.sha256")
JARS = Path("build/jars")
OWN = "sluice.jar"
NEXT = (
    "delete build/ivy and build/jars and repeat; if ivy.xml was changed on purpose, `make lock`"
    " writes the list anew: look at what it changes"
)


def read_list(text: str) -> dict[str, str]:
    """The checksum of each path. Raises ValueError naming a line of another form."""
    listed = {}
    for number, line in enumerate(text.splitlines(), start=1):
        checksum, separator, path = line.partition("  ")
        if len(checksum) != 64 or not separator or not path:
            raise ValueError(f"{LIST}:{number}: expected `<sha256>  <path>`, found {line!r}")
        listed[path] = checksum
    return listed


def found_below(folder: Path) -> dict[str, str]:
    """The checksum of each fetched jar: `<folder's name>/<file>` below `folder`."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*/*"))
        if path.name != OWN
    }


def differences(listed: dict[str, str], found: dict[str, str]) -> list[str]:
    """A line per jar that is not what the list says: by file, expected, found.

    A folder of which nothing is there was not fetched: what is listed for it is passed over.
    """
    fetched = {path.split("/")[0] for path in found}
    expected = {path: sha for path, sha in listed.items() if path.split("/")[0] in fetched}
    return [
        f"{path}: expected {expected.get(path, f'no such file (not in {LIST})')},"
        f" found {found.get(path, 'no such file')}"
        for path in sorted(expected.keys() | found.keys())
        if expected.get(path) != found.get(path)
    ]


def main(arguments: list[str]) -> str | None:
    """Check, or with `renew` write the list. Returns what is wrong, None if nothing."""
    found = found_below(JARS)
    if arguments == ["renew"]:
        LIST.write_text("".join(f"{sha}  {path}\n" for path, sha in found.items()))
        return None
    wrong = differences(read_list(LIST.read_text()), found)
    return "\n".join([*wrong, f"do this: {NEXT}"]) if wrong else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
