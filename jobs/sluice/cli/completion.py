"""Completion in a shell: the names of the pipelines that have a spec."""

from __future__ import annotations

import os

import click

from sluice.errors import SluiceError


def pipeline_names(context: click.Context, argument: click.Parameter, begun: str) -> list[str]:
    """The pipelines whose names begin so; none where the settings cannot be read."""
    # They load pydantic, which commands that complete nothing may not need.
    from sluice.settings import Settings
    from sluice.spec_folder import read_specs

    try:
        found = read_specs(Settings.from_environment(os.environ).pipelines)
    except SluiceError:
        return []
    return sorted(name for name in found.by_pipeline if name.startswith(begun))
