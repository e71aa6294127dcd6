"""The deployment: the project's folder and its settings, wherever Airflow was started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sluice.settings import Settings

PROJECT = Path(__file__).resolve().parents[3]


def project_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings; relative paths are the project's."""
    settings = Settings.from_environment(environment)
    warehouse = settings.warehouse
    if "://" not in warehouse:
        warehouse = str(PROJECT / warehouse)
    return replace(settings, warehouse=warehouse, pipelines=PROJECT / settings.pipelines)
