"""Clusters: the pipelines of the deployment by Kafka connection, each with its latest reading.

Each connection is read on its own: a cluster that does not answer keeps no other waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sluice.errors import SettingsError
from sluice.operations.overview.fleet import Fleet
from sluice.operations.overview.overview import Overview
from sluice.progress.resources import PipelineResources
from sluice.scheduling.deployment import reached_settings, readable_extra
from sluice.scheduling.page.polled import Polled, Seen
from sluice.scheduling.page.rows import Row, aged, row_of, unread
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import in_deployment, read_specs
from sluice.tables.warehouse import Warehouse


@dataclass(frozen=True)
class WatchedCluster:
    """The pipelines of one connection: the fleet that reads them, and its latest reading."""

    specs: tuple[PipelineSpec, ...]
    extra: object
    fleet: Fleet
    latest: Polled[Mapping[str, Row]]

    def rows(self, patience: float) -> Mapping[str, Row]:
        """Each pipeline's row, by name; with how old it is and why, if it is not new."""
        seen = self.latest.look(patience)
        now, first = datetime.now(UTC), _waiting(seen)
        return {
            each.pipeline: aged(seen.value[each.pipeline], seen, now)
            if seen.value and each.pipeline in seen.value
            else unread(each, first, waiting=not seen.problem)
            for each in self.specs
        }


def _waiting(seen: Seen[Mapping[str, Row]]) -> str:
    """Why nothing is known of a pipeline yet."""
    if seen.problem:
        return f"It could not be read: {seen.problem}"
    asked = f", asked at {seen.asked:%H:%M:%S} UTC" if seen.asked else ""
    return f"Nothing is known yet: it is being read{asked}."


@dataclass(frozen=True)
class Clusters:
    """All connections of the deployment, by name, and how many specs are refused."""

    by_connection: Mapping[str, WatchedCluster] = field(default_factory=dict)
    refused: int = 0

    def resources(self, pipeline: str) -> PipelineResources:
        """What a pipeline's own questions are asked with.

        Raises SettingsError where its connection cannot be used, or no spec names it any more.
        """
        for each in self.by_connection.values():
            if any(spec.pipeline == pipeline for spec in each.specs):
                return each.fleet.of(pipeline)
        raise SettingsError(f"{pipeline}: no spec of this deployment names it any more.")


def deployed_clusters() -> Callable[[], Clusters]:
    """A reading of this deployment, by its settings and Airflow's connections."""
    known: dict[str, WatchedCluster] = {}

    def read() -> Clusters:
        settings = reached_settings()
        tables = Warehouse(settings.warehouse, settings.warehouse_name)
        folder = read_specs(settings.pipelines)
        grouped: dict[str, list[PipelineSpec]] = {}
        for spec in folder.accepted.values():
            grouped.setdefault(spec.kafka, []).append(in_deployment(spec, settings))
        now = {
            name: next_cluster(tuple(specs), tables, _extra_of(name), known.get(name))
            for name, specs in grouped.items()
        }
        known.clear()
        known.update(now)
        return Clusters(now, len(folder.refused))

    return read


def next_cluster(
    specs: tuple[PipelineSpec, ...],
    tables: Warehouse,
    extra: Mapping[str, Any] | str,
    before: WatchedCluster | None,
) -> WatchedCluster:
    """The pipelines of one connection, by its `extra`, or by why there is none.

    It is the cluster before, unless specs or connection have changed. Where only specs have, what
    is known of the others stays.
    """
    known: Seen[Mapping[str, Row]] = Seen()
    if before and before.extra == extra:
        if before.specs == specs:
            return before
        known = _of_same_spec(before.latest.seen, specs)

    def given(_: str) -> Mapping[str, Any]:
        if isinstance(extra, str):
            raise SettingsError(extra)
        return extra

    fleet = Fleet(specs, tables, given)
    latest = Polled(_rows_of(fleet.read, known.value or {}), known=known)
    return WatchedCluster(specs, extra, fleet, latest)


def _of_same_spec(
    seen: Seen[Mapping[str, Row]], specs: tuple[PipelineSpec, ...]
) -> Seen[Mapping[str, Row]]:
    rows = {name: row for name, row in (seen.value or {}).items() if row.spec in specs}
    return replace(seen, value=rows, asked=None) if rows else Seen()


def _rows_of(
    read: Callable[[], list[Overview]], known: Mapping[str, Row]
) -> Callable[[], Mapping[str, Row]]:
    """Read rows; each remembers Kafka's last answer."""
    before = dict(known)

    def read_rows() -> Mapping[str, Row]:
        found = {
            each.spec.pipeline: row_of(each, before.get(each.spec.pipeline)) for each in read()
        }
        before.update(found)
        return found

    return read_rows


def _extra_of(name: str) -> Mapping[str, Any] | str:
    try:
        return readable_extra(name)
    except SettingsError as problem:
        return str(problem)
