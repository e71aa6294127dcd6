"""Settings: the environment, read once, at the edge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sluice.errors import SettingsError


@dataclass(frozen=True)
class Settings:
    """Where the tables and the pipeline specs are."""

    warehouse: str
    pipelines: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read `SLUICE_WAREHOUSE` and `SLUICE_PIPELINES`."""
        return cls(
            warehouse=environment.get("SLUICE_WAREHOUSE") or "./warehouse",
            pipelines=Path(environment.get("SLUICE_PIPELINES") or "dags/pipelines"),
        )


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
