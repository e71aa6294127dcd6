"""Settings: the environment, read once, at the edge."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sluice.errors import SettingsError


@dataclass(frozen=True)
class Settings:
    """Where the tables and the pipeline specs are.

    Raises SettingsError for a warehouse that is not a path.
    """

    warehouse: str
    pipelines: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "warehouse", _path_of(self.warehouse))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read `SLUICE_WAREHOUSE` and `SLUICE_PIPELINES`."""
        return cls(
            warehouse=environment.get("SLUICE_WAREHOUSE") or "./warehouse",
            pipelines=Path(environment.get("SLUICE_PIPELINES") or "dags/pipelines"),
        )


_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):/", re.IGNORECASE)


def _path_of(warehouse: str) -> str:
    """The path itself, or that of a `file:` URI; another URI is refused.

    A URI may hold a key: no error repeats more than its scheme.
    """
    found = _SCHEME.match(warehouse)
    if not found:
        return warehouse
    scheme, place = found[1].lower(), urlsplit(warehouse)
    if scheme == "file" and place.netloc in ("", "localhost"):
        return url2pathname(place.path)
    raise SettingsError(
        f"SLUICE_WAREHOUSE: expected a path on this host, found {scheme}://…: {_why_not(scheme)}."
        " Choose a path on a local disk."
    )


def _why_not(scheme: str) -> str:
    if scheme in ("s3", "s3a", "s3n"):
        return (
            "Delta has no log store for S3 that `spark.delta.logStore.s3a.impl` could name and"
            " whose commit never overwrites another's"
        )
    return "no test shows yet that the commits of Spark and delta-rs exclude each other there"


def connection_extra(connection: str, environment: Mapping[str, str]) -> Mapping[str, Any]:
    """The `extra` of an Airflow connection given as `AIRFLOW_CONN_<ID>` in Airflow's JSON form.

    Raises SettingsError when the variable is missing or has another form. The value is a secret:
    no error repeats it.
    """
    variable = f"AIRFLOW_CONN_{connection.upper()}"
    example = f"""{variable}='{{"conn_type": "kafka", "extra": {{"bootstrap.servers": "…"}}}}'"""
    if not environment.get(variable):
        raise SettingsError(f"{variable} is not set. Set it, for example: {example}")
    try:
        extra = json.loads(environment[variable])["extra"]
        extra = json.loads(extra) if isinstance(extra, str) else extra
    except (ValueError, KeyError, TypeError):
        extra = None
    if not isinstance(extra, dict):
        raise SettingsError(f"{variable} is not a connection in JSON form. Expected: {example}")
    return extra


# No ingest runs longer: VACUUM must not delete files that a run has yet to commit.
LONGEST_RUN = timedelta(hours=6)
