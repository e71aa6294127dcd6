"""An Airflow of its own for the DAG rules: no database, no scheduler, our plugin."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[3]

# Airflow reads these when it is first imported, and has its plugins folder on sys.path by itself.
os.environ["AIRFLOW_HOME"] = tempfile.mkdtemp(prefix="sluice-dags-")
os.environ["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(PROJECT / "plugins")
os.environ["AIRFLOW__CORE__DAGS_FOLDER"] = str(PROJECT / "dags")
os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "false"

SPEC = {
    "version": 1,
    "pipeline": "flights",
    "topics": ["flights"],
    "table": "flights",
    "format": {"type": "json", "schema": "carrier STRING, dep_delay DOUBLE"},
    "schedule": "*/10 * * * *",
    "owner": "data-platform",
    "description": "Departures from New York",
}


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of specs, and the settings that point to it."""
    folder = tmp_path / "pipelines"
    folder.mkdir()
    monkeypatch.setenv("SLUICE_PIPELINES", str(folder))
    monkeypatch.setenv("SLUICE_WAREHOUSE", str(tmp_path / "warehouse"))
    return folder


@pytest.fixture
def write_spec(specs: Path) -> Callable[..., Path]:
    """`write_spec("flights", schedule=None)` writes a spec that differs in these keys."""

    def write(pipeline: str, *, file: str | None = None, **keys: Any) -> Path:
        path = specs / (file or f"{pipeline}.yaml")
        spec = {**SPEC, "pipeline": pipeline, "table": pipeline, **keys}
        path.write_text(yaml.safe_dump(spec), encoding="utf-8")
        return path

    return write


@pytest.fixture
def parse() -> Callable[[], Any]:
    """Parse the project's DAG folder as Airflow does."""

    def parse_folder() -> Any:
        from airflow.dag_processing.dagbag import DagBag

        return DagBag(PROJECT / "dags", bundle_path=PROJECT / "dags", bundle_name="dags-folder")

    return parse_folder
