"""docs/spark-server.conf has the settings of the embedded server."""

from __future__ import annotations

import sys
from pathlib import Path

import sluice

from local.embedded.airflow_processes import ROOT
from local.embedded.spark_server import embedded_settings

# The environment of the page, and where the package is in it.
ENVIRONMENT = "/opt/sluice/.venv"
PACKAGE = f"{ENVIRONMENT}/lib/python3.11/site-packages/sluice"


def test_the_file_has_the_settings_of_the_embedded_server() -> None:
    text = (ROOT / "docs" / "spark-server.conf").read_text(encoding="utf-8")
    here = text.replace(PACKAGE, str(Path(sluice.__file__).parent)).replace(ENVIRONMENT, sys.prefix)
    lines = [line for line in here.splitlines() if line and not line.startswith("#")]
    assert dict(line.split(maxsplit=1) for line in lines) == embedded_settings()
