"""The plugin: tasks load it without the page, and a fault of the page must not stop Airflow."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
from airflow import plugins_manager
{before}
_ = plugins_manager.get_priority_weight_strategy_plugins()
assert sys.modules.get("sluice.scheduling.page.app") is None
apps, _ = plugins_manager.get_fastapi_plugins()
(ours,) = (each for each in apps if each["name"] == "Kafka offsets")
assert ours["url_prefix"] == "/sluice"
print(sys.modules.get("sluice.scheduling.page.app") is not None)
"""


def loaded(before: str = "") -> str:
    code = LOADED.format(before=before)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.patient
def test_the_page_is_imported_where_airflow_asks_for_apps_and_not_before():
    assert loaded() == "True"


@pytest.mark.patient
def test_a_page_that_cannot_be_imported_leaves_airflow_as_it_is():
    assert loaded('sys.modules["sluice.scheduling.page.app"] = None') == "False"
