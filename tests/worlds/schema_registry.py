"""The tests' schema registry, and the product's client of one."""

from __future__ import annotations

from typing import Any

from sluice.connections import Connection
from sluice.registry.client import Registry
from sluice.registry.registry_settings import RegistrySettings

from local.embedded.schema_registry import SchemaRegistry

__all__ = ["CONNECTION", "SchemaRegistry", "asked"]

CONNECTION = "schema_registry_default"


def asked(limit: float = 10, **connection: Any) -> Registry:
    """The product's client, by the keys of a connection."""
    return Registry(
        RegistrySettings.from_connection(Connection.from_json(CONNECTION, connection)), limit
    )
