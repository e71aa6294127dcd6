"""Finding a fleet: which pipelines it has, by the deployment's settings. Contacts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sluice.connections import connection_extra
from sluice.operations.overview.fleet import Fleet
from sluice.settings import Settings
from sluice.spec_folder import SpecFolder, find_spec, in_deployment, read_specs
from sluice.tables.warehouse import Warehouse


def find_fleet(environment: Mapping[str, str], only: str | None = None) -> Fleet:
    """All pipelines with a valid spec, or only this one; the environment names the connections.

    Raises SettingsError, or SpecError for a name without a valid spec.
    """
    settings = Settings.from_environment(environment)
    if only:
        specs = SpecFolder({settings.pipelines: find_spec(settings.pipelines, only)}, {})
    else:
        specs = read_specs(settings.pipelines)
    return fleet_of(specs, settings, lambda connection: connection_extra(connection, environment))


def fleet_of(
    specs: SpecFolder, settings: Settings, extra_of: Callable[[str], Mapping[str, Any]]
) -> Fleet:
    """The pipelines of these specs; `extra_of` names a connection's `extra`."""
    tables = Warehouse(settings.warehouse, settings.warehouse_name)
    accepted = [in_deployment(each, settings) for each in specs.accepted.values()]
    return Fleet(accepted, tables, extra_of, specs.refused)
