"""Opening a pipeline from the command line: settings and connection from the environment."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from datetime import UTC, datetime

from sluice.pipeline import Pipeline, open_pipeline
from sluice.settings import Settings, connection_extra
from sluice.spec import find_spec


@dataclass(frozen=True)
class Origin:
    """Who runs the command, as the offsets table records it."""

    run_id: str
    actor: str


def opened(pipeline: str) -> Pipeline:
    """The pipeline of that name. Raises SpecError or SettingsError."""
    settings = Settings.from_environment(os.environ)
    spec = find_spec(settings.pipelines, pipeline)
    return open_pipeline(spec, settings, connection_extra(spec.kafka, os.environ))


def here() -> Origin:
    """This user, now."""
    return Origin(f"cli__{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", getpass.getuser())
