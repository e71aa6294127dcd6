"""The jars of the embedded broker.

    python -m local.embedded.broker_jars

fetches what is missing or differs into build/jars/broker.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import JarSet

_HERE = Path(__file__).resolve().parent
BROKER = JarSet("broker", _HERE / "ivy.xml", _HERE / "jars.sha256")
FOLDER = JarFolder(_HERE.parents[1] / "build" / "jars")
JARS = FOLDER.of(BROKER)


def main() -> None:
    """Fetch them, shown as `sluice jars` does."""
    from sluice.cli.views.arriving import shown_arrivals
    from sluice.errors import SettingsError
    from sluice.lake.jars.fetching import fetch

    with shown_arrivals(BROKER.name, len(BROKER.listed)) as arrived:
        try:
            fetch(BROKER, FOLDER, os.environ, arrived)
        except SettingsError as problem:
            sys.exit(f"{problem}")


if __name__ == "__main__":
    main()
