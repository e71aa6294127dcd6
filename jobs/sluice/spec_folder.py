"""Spec files: a folder of specs, read and validated.

A topic template stands for many specs: one for each topic that its file of found topics has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from sluice.errors import SpecError, as_lines, did_you_mean
from sluice.found_topics import read_found
from sluice.settings import Settings
from sluice.spec_file.claims import refused_claims, shared_tables
from sluice.spec_file.findings import finding
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.topic_choice import TopicChoice, choose
from sluice.spec_file.topic_template import (
    TOPIC,
    Names,
    TemplateKeys,
    TopicTemplate,
    example_keys,
    is_template,
    limits_of,
    misplaced,
)
from sluice.strict_model import Model

Checked = TypeVar("Checked", bound=Model)


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
    return _checked(PipelineSpec, path, _keys_of(path), FolderFiles(path.parent))


def _keys_of(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            given = yaml.load(file, Loader=yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as problem:
        raise SpecError(f"{path}: cannot be read as YAML: {problem}") from None
    if not isinstance(given, dict):
        raise SpecError(f"{path}: expected the keys of a spec, found {type(given).__name__}")
    return given


def _checked(
    model: type[Checked], place: Path, keys: dict[str, Any], files: FolderFiles
) -> Checked:
    try:
        return model.model_validate(keys, context={"files": files})
    except ValidationError as problem:
        raise SpecError(as_lines(finding(place, each) for each in problem.errors())) from None


def spec_files(folder: Path) -> list[Path]:
    """The spec files of a folder, by name."""
    return sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])


@dataclass(frozen=True)
class FoundTemplate:
    """A template, and which of the topics that were found for it have a pipeline."""

    template: TopicTemplate
    choice: TopicChoice


@dataclass(frozen=True)
class SpecFolder:
    """The valid specs of a folder by file, and what is wrong with its other files.

    No two accepted specs name the same pipeline. `contested` are accepted specs that name one
    table: the table refuses all except one of them. The specs that a template has made, and what
    is wrong with its topics, have a place each, named after file and topic: `made` leads from it
    to the file.
    """

    accepted: Mapping[Path, PipelineSpec]
    refused: Mapping[Path, SpecError]
    contested: Mapping[Path, SpecError] = field(default_factory=dict)
    templates: Mapping[Path, FoundTemplate] = field(default_factory=dict)
    made: Mapping[Path, Path] = field(default_factory=dict)
    refused_templates: Mapping[Path, SpecError] = field(default_factory=dict)
    """Those of the refused that are meant to be templates."""

    def file_of(self, place: Path) -> Path:
        """The file that has the spec at this place."""
        return self.made.get(place, place)

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
    read = {path: _read(path) for path in spec_files(folder)}
    outcomes = {place: each for found in read.values() for place, each in found.outcomes.items()}
    templates = {path: found.template for path, found in read.items() if found.template}
    made = {place: path for path in templates for place in read[path].outcomes}
    valid = {path: each for path, each in outcomes.items() if isinstance(each, PipelineSpec)}
    refused = {path: each for path, each in outcomes.items() if isinstance(each, SpecError)}
    meant = {path: each for path, each in refused.items() if path in read and _has_topic(path)}
    lost = refused_claims(valid)
    refused |= {path: SpecError(f"{path}: {why}") for path, why in lost.items()}
    accepted = {path: spec for path, spec in valid.items() if path not in lost}
    shared = {path: SpecError(f"{path}: {why}") for path, why in shared_tables(accepted).items()}
    return SpecFolder(accepted, dict(sorted(refused.items())), shared, templates, made, meant)


def find_spec(folder: Path, pipeline: str) -> PipelineSpec:
    """The pipeline's spec. Raises SpecError when it is invalid or no file of the folder has it."""
    return find_spec_file(folder, pipeline)[1]


def find_spec_file(folder: Path, pipeline: str) -> tuple[Path, PipelineSpec]:
    """The pipeline's spec, with its file. Raises SpecError as `find_spec` does."""
    found = read_specs(folder)
    specs = {spec.pipeline: (path, spec) for path, spec in found.accepted.items()}
    # First: with a mistake in this file, a copy of it in another must not be used in silence.
    for path, problem in found.refused.items():
        if path.stem == pipeline and path not in found.made:
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
    pattern = rf"""^pipeline:\s*["']?{re.escape(pipeline)}["']?\s*(#|$)"""
    return re.search(pattern, _text_of(path), re.M) is not None


def _has_topic(path: Path) -> bool:
    """Whether a file that is not a valid spec is meant to make a pipeline of each topic."""
    return TOPIC in _text_of(path)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


@dataclass(frozen=True)
class _Read:
    """What a file has: a spec, or of a template one for each topic, each by its place."""

    outcomes: Mapping[Path, PipelineSpec | SpecError]
    template: FoundTemplate | None = None


def _read(path: Path) -> _Read:
    try:
        keys, files = _keys_of(path), FolderFiles(path.parent)
        if wrong := misplaced(keys):
            raise SpecError(as_lines(f"{path}: {each}" for each in wrong))
        if is_template(keys):
            return _made(path, _template(path, keys, files), files)
        return _Read({path: _checked(PipelineSpec, path, keys, files)})
    except SpecError as error:
        return _Read({path: error})
    except Exception as problem:
        # No file may take other pipelines down with it, not even through a bug in Sluice.
        return _Read({path: SpecError(f"{path}: {type(problem).__name__}: {problem}")})


def _template(path: Path, keys: dict[str, Any], files: FolderFiles) -> TopicTemplate:
    limits = _checked(TemplateKeys, path, limits_of(keys), files)
    found = TopicTemplate(keys, limits, _checked(PipelineSpec, path, example_keys(keys), files))
    if wrong := [*found.findings()]:
        raise SpecError(as_lines(f"{path}: {each}" for each in wrong))
    return found


def _made(path: Path, template: TopicTemplate, files: FolderFiles) -> _Read:
    found = read_found(path)
    choice = choose(template, found.pipelines, found.left_out)
    outcomes: dict[Path, PipelineSpec | SpecError] = {}
    for topic in choice.kept:
        place = path.with_name(f"{path.name} (topic {topic})")
        try:
            _checked(Names, place, template.names(topic), files)
            outcomes[place] = template.made(topic)
        except SpecError as error:
            outcomes[place] = error
    if choice.refused:
        place = path.with_name(f"{path.name} (topics without a pipeline)")
        outcomes[place] = SpecError(as_lines(f"{path}: {each}" for each in choice.refused))
    return _Read(outcomes, FoundTemplate(template, choice))


def in_deployment(spec: PipelineSpec, settings: Settings) -> PipelineSpec:
    """The spec, whose consumer group has the deployment's prefix."""
    if not settings.group_prefix or spec.consumer_group is None:
        return spec
    group = f"{settings.group_prefix}{spec.consumer_group}"
    return spec.model_copy(update={"consumer_group": group})
