"""Readers: the schemas that a pipeline's records are read as, for what is planned and landed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sluice.columns.columns import Column
from sluice.progress.resources import PipelineResources
from sluice.registry.noted import Noted
from sluice.spec_file.pipeline_spec import PipelineSpec


def spec_to_plan(resources: PipelineResources, stored: Sequence[Column]) -> Noted[PipelineSpec]:
    """The spec with the readers of the next batch, with notes about them; nothing is kept.

    `stored` are the columns of the data table. Raises what `SchemaBook.as_registered` raises.
    """
    spec = resources.spec
    follows = any(form.follows_registry for form in spec.formats.registered.values())
    topics = _topics(resources) if follows else ()
    return resources.schemas.as_registered(spec, topics, stored)


def spec_to_land(resources: PipelineResources) -> PipelineSpec:
    """The spec with the readers that were kept; where they are lost, with the newest ones."""
    spec = resources.kept_spec
    if not spec.formats.awaits_reader:
        return spec
    found = spec_to_plan(resources, resources.data.snapshot().columns)
    return resources.schemas.keep(found.value)


def _topics(resources: PipelineResources) -> Iterable[str]:
    if resources.spec.topics is not None:
        return resources.spec.topics
    return {each.topic for each in resources.kafka.state(resources.spec).logs}
