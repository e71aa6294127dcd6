"""The given folder: where a DAG file says that its specs are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sluice.scheduling.deployment import project_settings

Folder = str | os.PathLike[str]


def folder_of(given: Folder | None) -> Path:
    """The folder of specs, absolute; None is the one that `SLUICE_PIPELINES` names.

    A relative one begins at the folder of the file that called the caller of this function.
    """
    if given is None:
        return project_settings().pipelines
    file = sys._getframe(2).f_globals.get("__file__")
    here = Path(file).parent if file else Path()
    return Path(os.path.abspath(here / given))
