"""New pipelines: told from a warehouse that is missing before the first plan is made.

A mount that is not there, or a mistyped setting, shows an empty folder: read as a new pipeline, it
would land everything once more somewhere else.
"""

from __future__ import annotations

import logging

from sluice.errors import BrokerUnavailable, SettingsError, TableRefused
from sluice.moves import Move
from sluice.offsets.partition_log import KafkaState
from sluice.positions.policies import AtGroup
from sluice.progress.resources import PipelineResources

log = logging.getLogger(__name__)

_NAMED = 3


def require_new(resources: PipelineResources, state: KafkaState) -> None:
    """Raises TableRefused if anything knows the pipeline, although its tables do not.

    That is its quarantine table, or offsets in the consumer group that mirrors its cursor. Not
    where a recovery has decided that it begins anew.
    """
    spec = resources.spec
    quarantine, there = resources.quarantine.snapshot(), resources.data.exists()
    if resources.offsets.snapshot().begun_anew and not quarantine.knows(spec.pipeline):
        return
    if quarantine.version is not None and (not there or quarantine.knows(spec.pipeline)):
        found = f"{'an empty' if there else 'no'} data table {resources.data.uri}"
        raise TableRefused(
            f"{resources.quarantine.uri}: expected no quarantine table of a new pipeline, found"
            f" one, but {found}. Bring the data table back; or move the quarantine table away, or ",
            Move("recover", (spec.pipeline,)),
            " lets it start over.",
        )
    group = spec.consumer_group
    if group is None or spec.start.position == AtGroup(group):
        return
    mirrored = _group_offsets(resources, group, state)
    if not mirrored:
        return
    named = ", ".join(mirrored[:_NAMED]) + (", …" if len(mirrored) > _NAMED else "")
    raise TableRefused(
        f"{resources.offsets.uri}: expected the pipeline's tables, found none, but consumer group"
        f" {group} stands at {named}: they were read before. Is this the right warehouse, and is it"
        f" mounted? For a pipeline that is new, choose another `consumer_group`, delete {group}, or"
        f" go on where it stands with `start: {{group: {group}}}`."
    )


def _group_offsets(resources: PipelineResources, group: str, state: KafkaState) -> list[str]:
    """The group's offsets, as text; empty where they cannot be read."""
    try:
        found = resources.kafka.group_offsets(group, sorted(state.logs))
    except (BrokerUnavailable, SettingsError) as problem:
        log.warning("consumer group %s: its offsets are unknown: %s", group, problem)
        return []
    return [f"{partition}@{offset}" for partition, offset in found.items() if offset is not None]
