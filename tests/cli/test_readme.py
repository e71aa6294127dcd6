"""README.md: the five commands work as they stand there, and end in what `sluice verify` accepts.

They run in a shell of their own, with the file that `make up` writes for it, beside an embedded
broker with the settings of `make up`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from local.embedded.airflow_processes import connections
from local.embedded.broker import Broker
from local.stack import exports_of
from tests.oracle import assert_exact
from tests.worlds.processes import JAVA_TUNING

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.seam]

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
HEADING = "## Your own topic in five commands\n"
SPARK = "AIRFLOW_CONN_SPARK_DEFAULT"


def blocks() -> tuple[list[str], str]:
    """The commands, and the answer of the last one, as README has them."""
    section = README[README.index(HEADING) :]
    commands = re.search(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    answer = re.search(r"^```text\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert commands
    assert answer
    return commands[1].splitlines(), answer[1]


@pytest.fixture
def checkout(tmp_path: Path, broker: Broker) -> Path:
    """A folder that looks as a checkout does after `make up`."""
    (tmp_path / "dags" / "pipelines").mkdir(parents=True)
    up = tmp_path / "build" / "up"
    up.mkdir(parents=True)
    known = {name: text for name, text in connections(broker.bootstrap).items() if name != SPARK}
    settings = {
        "SLUICE_WAREHOUSE": str(up / "warehouse"),
        "SLUICE_PIPELINES": str(tmp_path / "dags" / "pipelines"),
        # Not of `make up`: several checkouts are tested at the same time.
        "PYTHONPATH": os.pathsep.join([str(ROOT / "jobs"), str(ROOT)]),
        **JAVA_TUNING,
    }
    (up / "env").write_text(exports_of({**settings, **known}))
    return tmp_path


def test_the_five_commands_land_a_topic(checkout: Path, broker: Broker) -> None:
    commands, answer = blocks()
    assert len(commands) == 5
    shell = "\n".join(["set -e", *commands, "sluice verify orders"])
    bare = {key: os.environ[key] for key in ("HOME", "PATH", "JAVA_HOME") if key in os.environ}
    bare["SLUICE_TEST_SESSION"] = os.environ["SLUICE_TEST_SESSION"]
    bare["PATH"] = bare["PATH"].replace(f"{Path(sys.executable).parent}{os.pathsep}", "")
    done = subprocess.run(
        ["bash", "-c", shell], cwd=checkout, env=bare, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert answer in done.stdout
    assert "compared with 3 records in Kafka" in done.stdout
    warehouse = checkout / "build" / "up" / "warehouse"
    assert_exact(
        broker.bootstrap,
        warehouse,
        "orders",
        "orders",
        ["orders"],
        group="sluice-orders",
        fmt="json",
        schema="order_id BIGINT, amount DOUBLE, at TIMESTAMP",
    )
