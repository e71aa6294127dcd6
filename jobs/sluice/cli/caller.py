"""The caller: which pipeline a command is about, and who runs it, from the environment."""

from __future__ import annotations

import getpass
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sluice.offsets.origin import Caller

if TYPE_CHECKING:
    from sluice.broker.client_settings import ClientSettings
    from sluice.operations.overview.fleet import Fleet
    from sluice.pipeline import Pipeline
    from sluice.registry.client import Registry

_REGISTRY = "schema_registry_default"


def open_named(pipeline: str) -> Pipeline:
    """The pipeline of that name. Raises SpecError or SettingsError."""
    # It loads Kafka's and Delta's clients, which help and wrong usage do without.
    from sluice.pipeline import find_pipeline
    from sluice.tables.s3_access import reach_warehouse

    reach_warehouse(os.environ)
    return find_pipeline(pipeline, os.environ)


def open_fleet(only: str | None = None) -> Fleet:
    """All pipelines, or only one. Raises SettingsError, or SpecError for a name without a spec."""
    from sluice.operations.overview.find_fleet import find_fleet
    from sluice.tables.s3_access import reach_warehouse

    reach_warehouse(os.environ)
    return find_fleet(os.environ, only)


def kafka_client(connection: str) -> ClientSettings:
    """How to reach the cluster of a connection. Raises SettingsError."""
    from sluice.broker.client_settings import ClientSettings
    from sluice.connections import connection_extra

    return ClientSettings.from_extra(connection, connection_extra(connection, os.environ))


def registry_client(connection: str) -> Registry:
    """The schema registry of a connection. Raises SettingsError."""
    from sluice.registry.client import Registry
    from sluice.registry.registry_settings import RegistrySettings

    return Registry(RegistrySettings.from_environment(connection, os.environ))


def known_registry() -> str:
    """The schema registry's connection that has the usual name; empty where it is not set."""
    from sluice.connections import Connection
    from sluice.errors import SettingsError

    try:
        return _REGISTRY if Connection.find(_REGISTRY, os.environ, "") else ""
    except SettingsError:
        return ""


def current_user() -> Caller:
    """This user, now."""
    return Caller(f"cli__{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", _user())


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return f"uid {os.getuid()}"
