"""Spec files: a folder of specs, read and validated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import yaml
from pydantic import ValidationError

from sluice.errors import SpecError, as_lines, did_you_mean
from sluice.settings import Settings
from sluice.spec_file.claims import refused_claims, shared_tables
from sluice.spec_file.findings import finding
from sluice.spec_file.pipeline_spec import PipelineSpec


class NoSpecFolder(SpecError):
    """The folder of specs is missing, or is a file."""


class FolderFiles:
    """The files in a folder, and below it. Each is read once: it is the same in all that it says.

    Nothing else is read, whatever a name or a link leads to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._found: dict[str, bytes | None] = {}

    def get(self, name: str, /) -> bytes | None:
        """The content of a file, by its path from the folder; None without one."""
        if name not in self._found:
            file = self._file(name)
            self._found[name] = None if file is None else file.read_bytes()
        return self._found[name]

    def _file(self, name: str) -> Path | None:
        try:
            file = (self._folder / name).resolve()
            within = file.is_relative_to(self._folder) and not PurePath(name).is_absolute()
            return file if within and file.is_file() else None
        except (OSError, ValueError):
            # No file can have such a name.
            return None


def load_spec(path: Path) -> PipelineSpec:
    """Read a spec. Raises SpecError, one line per finding: file, key path, found, allowed."""
    try:
        with path.open(encoding="utf-8") as file:
            given = yaml.load(file, Loader=yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise SpecError(f"{path}: cannot be read as YAML: {problem}") from None
    if not isinstance(given, dict):
        raise SpecError(f"{path}: expected the keys of a spec, found {type(given).__name__}")
    try:
        return PipelineSpec.model_validate(given, context={"files": FolderFiles(path.parent)})
    except ValidationError as problem:
        raise SpecError(as_lines(finding(path, each) for each in problem.errors())) from None


def spec_files(folder: Path) -> list[Path]:
    """The spec files of a folder, by name."""
    return sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])


@dataclass(frozen=True)
class SpecFolder:
    """The valid specs of a folder by file, and what is wrong with its other files.

    No two accepted specs name the same pipeline. `contested` are accepted specs that name one
    table: the table refuses all except one of them.
    """

    accepted: Mapping[Path, PipelineSpec]
    refused: Mapping[Path, SpecError]
    contested: Mapping[Path, SpecError] = field(default_factory=dict)

    @property
    def by_pipeline(self) -> dict[str, PipelineSpec]:
        """The accepted specs by the name of their pipeline."""
        return {spec.pipeline: spec for spec in self.accepted.values()}


def read_specs(folder: Path) -> SpecFolder:
    """Read every spec of the folder; an invalid one is refused without affecting the others."""
    if not folder.is_dir():
        found = "a file, expected a folder" if folder.exists() else "no such folder"
        missing = NoSpecFolder(
            f"{folder}: {found}. SLUICE_PIPELINES names the specs' folder, unless the DAG"
            " file does."
        )
        return SpecFolder({}, {folder: missing})
    outcomes = dict(_outcomes(folder))
    valid = {path: each for path, each in outcomes.items() if isinstance(each, PipelineSpec)}
    refused = {path: each for path, each in outcomes.items() if isinstance(each, SpecError)}
    lost = refused_claims(valid)
    refused |= {path: SpecError(f"{path}: {why}") for path, why in lost.items()}
    accepted = {path: spec for path, spec in valid.items() if path not in lost}
    shared = {path: SpecError(f"{path}: {why}") for path, why in shared_tables(accepted).items()}
    return SpecFolder(accepted, dict(sorted(refused.items())), shared)


def find_spec(folder: Path, pipeline: str) -> PipelineSpec:
    """The pipeline's spec. Raises SpecError when it is invalid or no file of the folder has it."""
    return find_spec_file(folder, pipeline)[1]


def find_spec_file(folder: Path, pipeline: str) -> tuple[Path, PipelineSpec]:
    """The pipeline's spec, with its file. Raises SpecError as `find_spec` does."""
    found = read_specs(folder)
    specs = {spec.pipeline: (path, spec) for path, spec in found.accepted.items()}
    # First: with a mistake in this file, a copy of it in another must not be used in silence.
    for path, problem in found.refused.items():
        if path.stem == pipeline:
            raise problem
    if pipeline in specs:
        return specs[pipeline]
    for path, problem in found.refused.items():
        if _names(path, pipeline):
            raise problem
    known = ", ".join(sorted(specs)) or "none"
    raise SpecError(
        as_lines(
            [
                f"{folder}: expected a spec of a pipeline {pipeline!r}, found pipelines: {known}"
                f"{did_you_mean(pipeline, specs)}. SLUICE_PIPELINES names the folder,"
                " unless the DAG file does.",
                *map(str, found.refused.values()),
            ]
        )
    )


def _names(path: Path, pipeline: str) -> bool:
    """Whether a file that is not a valid spec names this pipeline."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return (
        re.search(rf"""^pipeline:\s*["']?{re.escape(pipeline)}["']?\s*(#|$)""", text, re.M)
        is not None
    )


def _outcomes(folder: Path) -> Iterator[tuple[Path, PipelineSpec | SpecError]]:
    for path in spec_files(folder):
        try:
            spec = load_spec(path)
        except SpecError as error:
            yield path, error
        except Exception as problem:
            # No file may take other pipelines down with it, not even through a bug in Sluice.
            yield path, SpecError(f"{path}: {type(problem).__name__}: {problem}")
        else:
            yield path, spec


def in_deployment(spec: PipelineSpec, settings: Settings) -> PipelineSpec:
    """The spec, whose consumer group has the deployment's prefix."""
    if not settings.group_prefix or spec.consumer_group is None:
        return spec
    group = f"{settings.group_prefix}{spec.consumer_group}"
    return spec.model_copy(update={"consumer_group": group})
