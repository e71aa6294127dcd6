"""The accepted specs: one read of the folder for everything that Airflow shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sluice.errors import SpecError
from sluice.settings import Settings
from sluice.spec import PipelineSpec, load_spec, spec_files

PROJECT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class SpecFolder:
    """The specs of a folder by their file, and what is wrong with the others."""

    accepted: Mapping[Path, PipelineSpec]
    refused: tuple[SpecError, ...] = ()


def project_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; relative paths are the project's, wherever Airflow was started."""
    settings = Settings.from_environment(environment)
    warehouse = settings.warehouse
    if "://" not in warehouse:
        warehouse = str(PROJECT / warehouse)
    return replace(settings, warehouse=warehouse, pipelines=PROJECT / settings.pipelines)


def read_specs(folder: Path) -> SpecFolder:
    """Read every spec of the folder; a bad one is set aside and does not hinder the others."""
    accepted: dict[Path, PipelineSpec] = {}
    refused: list[SpecError] = []
    if not folder.is_dir():
        refused.append(SpecError(f"{folder}: no such folder. Set SLUICE_PIPELINES to the specs'."))
    # A file that has its pipeline's name goes first: a copy of it must not push it aside.
    for path, outcome in sorted(_outcomes(folder), key=_claim):
        if isinstance(outcome, SpecError):
            refused.append(outcome)
        elif owner := _holder(accepted, outcome.pipeline):
            refused.append(
                SpecError(
                    f"{path}: pipeline: found {outcome.pipeline!r}, which {owner.name} has already;"
                    " allowed: a name that no other file of the folder uses"
                )
            )
        else:
            accepted[path] = outcome
    return SpecFolder(dict(sorted(accepted.items())), tuple(refused))


def _outcomes(folder: Path) -> Iterator[tuple[Path, PipelineSpec | SpecError]]:
    for path in spec_files(folder):
        try:
            spec = load_spec(path)
        except SpecError as error:
            yield path, error
        except Exception as problem:
            # Whatever a file breaks, it must not take the other pipelines down with it.
            yield path, SpecError(f"{path}: {type(problem).__name__}: {problem}")
        else:
            yield path, spec


def _claim(read: tuple[Path, PipelineSpec | SpecError]) -> tuple[bool, Path]:
    path, outcome = read
    return isinstance(outcome, SpecError) or outcome.pipeline != path.stem, path


def _holder(accepted: Mapping[Path, PipelineSpec], pipeline: str) -> Path | None:
    return next((path for path, spec in accepted.items() if spec.pipeline == pipeline), None)
