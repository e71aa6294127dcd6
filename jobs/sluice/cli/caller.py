"""The caller: which pipeline a command is about, and who runs it, from the environment."""

from __future__ import annotations

import getpass
import os
from datetime import UTC, datetime

from sluice.offsets.origin import Caller
from sluice.pipeline import Pipeline, find_pipeline


def open_named(pipeline: str) -> Pipeline:
    """The pipeline of that name. Raises SpecError or SettingsError."""
    return find_pipeline(pipeline, os.environ)


def current_user() -> Caller:
    """This user, now."""
    return Caller(f"cli__{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", _user())


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return f"uid {os.getuid()}"
