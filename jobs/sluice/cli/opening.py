"""Opening a pipeline from the command line: settings and connection from the environment."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from datetime import UTC, datetime

from sluice.pipeline import Pipeline, find_pipeline


@dataclass(frozen=True)
class Caller:
    """Who runs the command, as the offsets table records it."""

    run_id: str
    actor: str


def opened(pipeline: str) -> Pipeline:
    """The pipeline of that name. Raises SpecError or SettingsError."""
    return find_pipeline(pipeline, os.environ)


def here() -> Caller:
    """This user, now."""
    return Caller(f"cli__{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", _user())


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return f"uid {os.getuid()}"
