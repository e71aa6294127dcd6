"""docs/spark-server.conf has the settings of the embedded server."""

from __future__ import annotations

from local.embedded.airflow_processes import ROOT
from local.embedded.spark_server import embedded_settings


def test_the_file_has_the_settings_of_the_embedded_server() -> None:
    text = (ROOT / "docs" / "spark-server.conf").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    given = dict(line.replace("/opt/sluice", str(ROOT)).split(maxsplit=1) for line in lines)
    assert given == embedded_settings()
