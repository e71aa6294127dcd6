"""The given folder: where a DAG file says that its specs are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sluice.scheduling.deployment import project_settings

Folder = str | os.PathLike[str]


def folder_of(given: Folder | None, calls_above: int = 1) -> Path:
    """The folder of specs, absolute; None is the one that `SLUICE_PIPELINES` names.

    A relative one begins at the folder of the file that called: `calls_above` the caller of this.
    """
    if given is None:
        return project_settings().pipelines
    file = sys._getframe(calls_above + 1).f_globals.get("__file__")
    return (Path(file).parent if file else Path()).absolute() / given
