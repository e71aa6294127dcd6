"""The deployment: the project's folder, its settings and connections, and how a pipeline opens."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Connection as AirflowConnection
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowNotFoundException

from sluice.broker.client_logs import silence_clients
from sluice.connections import Connection
from sluice.errors import SettingsError
from sluice.lake.spark_place import CONNECTION, OWN_SPARK, SparkPlace, place_of
from sluice.settings import Settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import read_specs
from sluice.tables.s3_access import CONNECTION as S3_CONNECTION
from sluice.tables.s3_access import use_connection
from sluice.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from sluice.operations.overview.fleet import Fleet
    from sluice.pipeline import Pipeline
    from sluice.registry.client import Registry

log = logging.getLogger(__name__)


def home() -> Path:
    """Where relative settings begin: the folder that has Airflow's folder of DAGs."""
    return Path(conf.get_mandatory_value("core", "dags_folder")).absolute().parent


def project_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; relative paths begin at `home()`, wherever Airflow was started."""
    settings = Settings.from_environment(environment)
    warehouse = settings.warehouse
    if not Warehouse(warehouse).on_s3:
        warehouse = str(home() / warehouse)
    return replace(settings, warehouse=warehouse, pipelines=home() / settings.pipelines)


def reached_settings() -> Settings:
    """The same, for code that opens tables: this process can then reach an object store.

    Its Kafka clients stay silent in the log: an error says why a broker does not answer.
    """
    silence_clients()
    settings = project_settings()
    if Warehouse(settings.warehouse).on_s3:
        found = _find(S3_CONNECTION)
        # Without one the identity of the machine counts.
        use_connection(None if found is None else _value(found), os.environ)
    return settings


def _find(conn_id: str) -> AirflowConnection | None:
    try:
        found: AirflowConnection = AirflowConnection.get(conn_id)
    except AirflowNotFoundException:
        return None
    return found


def _value(found: AirflowConnection) -> Connection:
    return Connection.from_json(found.conn_id, json.loads(found.as_json()))


def connection(conn_id: str) -> AirflowConnection:
    """An Airflow connection. Raises SettingsError when it is not defined."""
    found = _find(conn_id)
    if found is None:
        raise SettingsError(
            f"The Airflow connection {conn_id!r} is not defined. Add it under Admin → Connections."
        )
    return found


def kafka_extra(conn_id: str) -> Mapping[str, Any]:
    """The `extra` of a Kafka connection. Raises SettingsError when it is not a JSON object."""
    found = connection(conn_id).extra_dejson
    if not isinstance(found, dict):
        raise SettingsError(
            f"The Airflow connection {conn_id!r}: expected a JSON object under Extra, found"
            f" {type(found).__name__}. Correct it under Admin → Connections."
        )
    return found


def readable_extra(conn_id: str) -> Mapping[str, Any]:
    """The same, if one connection must not affect others: every failure is a SettingsError."""
    try:
        return kafka_extra(conn_id)
    except SettingsError:
        raise
    except Exception as problem:
        # The text of another error may contain a secret.
        log.exception("The connection %s cannot be read", conn_id)
        raise SettingsError(
            f"The Airflow connection {conn_id!r} cannot be read: {type(problem).__name__}; the log"
            " says more."
        ) from problem


def pipeline_of(spec: PipelineSpec, place: SparkPlace = OWN_SPARK) -> Pipeline:
    """Open the spec's pipeline with the settings and the Kafka connection of this deployment."""
    # Imported here, not at the top: it loads deltalake and confluent_kafka.
    from sluice.pipeline import open_pipeline

    settings, kafka = reached_settings(), kafka_extra(spec.kafka)
    return open_pipeline(spec, settings, kafka, place, schema_registry)


def schema_registry(conn_id: str) -> Registry:
    """The schema registry of a connection. Raises SettingsError."""
    from sluice.registry.client import Registry
    from sluice.registry.registry_settings import RegistrySettings

    return Registry(RegistrySettings.from_connection(_value(connection(conn_id))))


def deployed_fleet(specs: Path) -> Fleet:
    """All pipelines whose specs are in this folder; contacts nothing yet."""
    from sluice.operations.overview.find_fleet import fleet_of

    return fleet_of(read_specs(specs), reached_settings(), readable_extra)


def spark_place() -> SparkPlace:
    """Where Spark runs. Raises SettingsError when the connection does not say it."""
    # For a missing connection the provider would use `--master yarn`; this raises an error instead.
    return place_of(_value(connection(CONNECTION)))
