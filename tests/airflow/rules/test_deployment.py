"""Relative settings begin beside Airflow's folder of DAGs, wherever the package was installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[3] / "jobs"


@pytest.mark.patient
def test_an_installed_package_finds_the_specs_beside_airflows_folder_of_dags(
    tmp_path: Path,
) -> None:
    installed, project = tmp_path / "site-packages", tmp_path / "project"
    shutil.copytree(JOBS / "sluice", installed / "sluice")
    environment = {
        **os.environ,
        "PYTHONPATH": str(installed),
        "AIRFLOW__CORE__DAGS_FOLDER": str(project / "dags"),
    }
    environment.pop("SLUICE_PIPELINES", None)
    script = (
        "import sluice.scheduling.deployment as here;"
        "print(here.__file__, here.project_settings().pipelines)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    file, pipelines = done.stdout.split()[-2:]
    assert Path(file).is_relative_to(installed)
    assert Path(pipelines) == project / "dags" / "pipelines"
