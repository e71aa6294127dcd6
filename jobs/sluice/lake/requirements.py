"""What Spark must have before anything is written with it, above all a server. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sluice.errors import SettingsError, SpecError

EXTENSIONS_KEY, DELTA = "spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"
# Read when a JVM starts: no client can add them.
STATIC = {
    EXTENSIONS_KEY: DELTA,
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
# The sources that a batch needs, and what brings them.
SOURCES = {"delta": "delta-spark_4.2_2.13", "kafka": "spark-sql-kafka-0-10_2.13"}

# What a session holds. It also accepts other keys, such as spark.kafka.consumer.cache.capacity, but
# ignores them.
_OF_A_SESSION = ("spark.sql.", "spark.databricks.delta.")


def require_session_settings(server: str, keys: Iterable[str]) -> None:
    """Raises SpecError, which names every key that would have no effect in a session."""
    fixed = [key for key in keys if not key.startswith(_OF_A_SESSION)]
    if fixed:
        raise fixed_at_start(server, *fixed)


def fixed_at_start(server: str, *keys: str) -> SpecError:
    """The refusal of settings that a session cannot have."""
    return SpecError(
        f"spark: {', '.join(sorted(keys))}: expected a setting that a session may change, as Spark"
        f" runs on the server {server}; found one that is fixed when the server starts. Set it"
        " there, and remove it here."
    )


def require_static(server: str, settings: Mapping[str, str]) -> None:
    """Raises SettingsError, which names every static setting that the server lacks."""
    missing = list(_missing(settings))
    if missing:
        raise SettingsError(
            f"{server}: {'; '.join(missing)}. Add it to the configuration with which the Spark"
            " Connect server starts, and restart it."
        )


def _missing(settings: Mapping[str, str]) -> Iterator[str]:
    for key, expected in STATIC.items():
        found = settings.get(key, "")
        if expected not in found.replace(" ", "").split(","):
            yield f"{key}: expected {expected}, found {found or 'nothing'}"


def require_version(server: str, expected: str, found: str) -> None:
    """Raises SettingsError where the server runs another version of Spark than the client."""
    if found != expected:
        raise SettingsError(
            f"{server}: expected Spark {expected} as installed here, found Spark {found}. Start a"
            f" server of {expected}, or name another one in the connection."
        )


def require_delta(server: str, expected: str, found: str) -> None:
    """Raises SettingsError where the server has another version of Delta than the one tested."""
    if found != expected:
        raise SettingsError(
            f"{server}: expected Delta {expected} as installed here, found Delta {found}. Put"
            f" delta-spark_4.2_2.13 {expected}, with what it depends on, on the server's class"
            " path instead, and restart it."
        )


def missing_source(server: str, source: str) -> SettingsError:
    """The refusal of a server that cannot read or write a source."""
    return SettingsError(
        f"{server}: expected the data source `{source}`, found none of that name. Add"
        f" {SOURCES[source]}, with what it depends on, to the server's class path, and restart it."
    )
