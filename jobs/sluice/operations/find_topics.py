"""Finding topics: a look at Kafka for each topic template, and what it found, kept for all readers.

Only this asks a broker for topics; all readers of specs read the file in which it keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sluice.broker.port import Cluster
from sluice.errors import SettingsError, SluiceError, SpecError
from sluice.found_topics import FoundTopics, read_found, write_found, writing_found
from sluice.spec_file.topic_choice import TopicChoice, choose, listed_topics
from sluice.spec_file.topic_template import TopicTemplate
from sluice.spec_folder import SpecFolder, read_specs

FindCluster = Callable[[str], Cluster]
"""The cluster of a Kafka connection. Raises SettingsError."""


@dataclass(frozen=True)
class TopicsLook:
    """What a look for one template found; `gone` have a pipeline, and are not on the cluster."""

    path: Path
    template: TopicTemplate
    choice: TopicChoice
    gone: tuple[str, ...]

    @property
    def told(self) -> list[str]:
        """What there is to say beside what is refused, a line each."""
        by_kind = (
            ("new", self.choice.new, "a pipeline each"),
            ("gone from Kafka", self.gone, "their pipelines stay; except_topics ends them"),
            ("not allowed", self.choice.not_allowed, "topics_allowed does not have them"),
            (
                "left out by now",
                self.choice.given_up,
                "they had a pipeline, and have none any more",
            ),
        )
        found = [f"{name}: {listed_topics(each)}; {why}" for name, each, why in by_kind if each]
        known = len(self.choice.kept) + len(self.choice.new)
        return [f"{known} of at most {self.template.limits.most_pipelines} pipelines", *found]

    @property
    def refused(self) -> list[str]:
        """Why topics have no pipeline, a line each with the template's file."""
        return [f"{self.path}: {each}" for each in self.choice.refused]


def find_topics(
    folder: Path, files: Sequence[Path], cluster_of: FindCluster, *, execute: bool
) -> tuple[list[TopicsLook], list[SluiceError]]:
    """Look for the topics of these templates, or of all in the folder; what failed, beside it.

    Kept only with `execute`. A template that is refused, or whose cluster does not answer, keeps no
    other waiting.
    """
    looks: list[TopicsLook] = []
    failed: list[SluiceError] = []
    places = {path.parent: read_specs(path.parent) for path in files} or {
        folder: read_specs(folder)
    }
    for place, specs in places.items():
        named = [path for path in files if path.parent == place]
        if not named:
            failed += _refused(place, specs)
        for path in named or specs.templates:
            try:
                looks.append(_look(path, _template(specs, path), cluster_of, execute))
            except SluiceError as problem:
                failed.append(problem)
    return looks, failed


def _refused(folder: Path, specs: SpecFolder) -> list[SpecError]:
    """What is wrong with the folder, or with templates in it."""
    missing = [specs.refused[folder]] if folder in specs.refused else []
    return [*missing, *specs.refused_templates.values()]


def _template(specs: SpecFolder, path: Path) -> TopicTemplate:
    if path in specs.templates:
        return specs.templates[path].template
    for place in (path, path.parent):
        if place in specs.refused:
            raise specs.refused[place]
    raise SettingsError(
        f"{path}: expected a spec with {{topic}} in pipeline and table, which makes a pipeline for"
        " each topic of its pattern. Without it there is nothing to look for."
    )


def _look(
    path: Path, template: TopicTemplate, cluster_of: FindCluster, execute: bool
) -> TopicsLook:
    seen = cluster_of(template.spec.kafka).topic_names()
    before = read_found(path)
    look = _looked(path, template, before, seen)
    if not execute or _after(look, before) == before:
        # Where specs are read-only, a look that finds nothing new needs no right to write.
        return look
    with writing_found(path):
        before = read_found(path)
        look = _looked(path, template, before, seen)
        write_found(path, _after(look, before))
    return look


def _after(look: TopicsLook, before: FoundTopics) -> FoundTopics:
    return FoundTopics(
        version=1,
        # A topic never leaves this list: its table stays its own.
        pipelines=sorted({*before.pipelines, *look.choice.new}),
        left_out=[*look.choice.left_out],
    )


def _looked(
    path: Path, template: TopicTemplate, known: FoundTopics, seen: Sequence[str]
) -> TopicsLook:
    choice = choose(template, known.pipelines, seen)
    gone = tuple(each for each in choice.kept if each not in seen)
    return TopicsLook(path, template, choice, gone)
