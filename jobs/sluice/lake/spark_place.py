"""Spark's place: where Spark runs, as the Airflow connection `spark_default` says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluice.connections import Connection
from sluice.errors import SettingsError

CONNECTION = "spark_default"
_EXAMPLE = '{"conn_type": "spark_connect", "host": "localhost", "port": 15002, "password": "…"}'
_LOOPBACK = ("localhost", "127.0.0.1")
# Spark's own default (spark.connect.grpc.binding.port).
_SERVER_PORT = 15002


@dataclass(frozen=True)
class OwnSpark:
    """A Spark that is started for a run and ends with it; None: the master of its own settings."""

    master: str | None = None


OWN_SPARK = OwnSpark()


@dataclass(frozen=True)
class SparkServer:
    """A Spark Connect server that runs already; nothing is started."""

    host: str
    port: int = _SERVER_PORT
    token: str | None = field(default=None, repr=False)
    user: str = "sluice"
    tls: bool = False

    @property
    def address(self) -> str:
        """`host:port`, as gRPC takes it."""
        return f"{self.host}:{self.port}"


SparkPlace = OwnSpark | SparkServer


def place_in(environment: Mapping[str, str]) -> SparkPlace:
    """What `AIRFLOW_CONN_SPARK_DEFAULT` says; if it is not set, a local Spark.

    Raises SettingsError, which repeats no secret.
    """
    return place_of(Connection.find(CONNECTION, environment, _EXAMPLE))


def place_of(connection: Connection | None) -> SparkPlace:
    """What a connection says; without one, a local Spark.

    Raises SettingsError, which repeats no secret.
    """
    if connection is None:
        return OWN_SPARK
    kind = (connection.conn_type or "").replace("-", "_")
    if kind == "spark":
        return OwnSpark(_master(connection))
    if kind == "spark_connect":
        return _server(connection)
    raise connection.unusable("conn_type", "`spark` or `spark_connect`", repr(kind))


def _master(connection: Connection) -> str:
    """The master's URL, joined as Airflow's provider for Spark does."""
    if connection.extra.get("deploy-mode") == "cluster":
        raise cluster_mode_refused(CONNECTION)
    host = connection.host or "local[*]"
    return f"{host}:{connection.port}" if connection.port else host


def cluster_mode_refused(connection: str) -> SettingsError:
    """The refusal of deploy-mode `cluster`: its driver would need the secrets in its arguments."""
    return SettingsError(
        f"{connection}: deploy-mode: found 'cluster', allowed: 'client' (or absent)."
        " The driver reads the Kafka secrets from the environment of its task."
    )


def kubernetes_missing(connection: str) -> SettingsError:
    """The refusal of a k8s:// master where Airflow's provider for Spark cannot use one."""
    return SettingsError(
        f"{connection}: host: found k8s://, for which Airflow needs the package"
        " apache-airflow-providers-cncf-kubernetes, found none. Install it beside"
        " apache-airflow-providers-apache-spark: docs/spark-clusters.md"
    )


def _server(connection: Connection) -> SparkServer:
    host = connection.host.removeprefix("sc://").rstrip("/")
    name, _, behind = host.rpartition(":") if host.count(":") == 1 else (host, "", "")
    port = connection.port or behind or str(_SERVER_PORT)
    if not name or not port.isdecimal() or any(each in name for each in "/;@: "):
        # What was found may hold a token.
        raise connection.unusable(
            "host", "a host name such as spark.example.com, and a port", "another form"
        )
    said = connection.extra.get("use_ssl")
    return SparkServer(
        host=name,
        port=int(port),
        token=connection.password or None,
        user=connection.login or SparkServer.user,
        # Kafka's secrets travel in the plans: without TLS only to loopback, or on request.
        tls=name not in _LOOPBACK if said is None else str(said).lower() == "true",
    )
