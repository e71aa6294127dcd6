"""docs/monitoring: Prometheus itself reads the rules, and plays series that must alert and not."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import yaml

from tests.worlds.monitoring import FOLDER, RULES, RULES_TEST


def promtool(*words: str) -> str:
    """What promtool says; it must agree."""
    found = shutil.which("promtool")
    if found is None:
        pytest.fail("promtool is missing: apt-get install prometheus (.ci/run does), or build it")
    done = subprocess.run(
        [found, *words], cwd=FOLDER, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_prometheus_accepts_the_rules() -> None:
    assert "SUCCESS: 12 rules found" in promtool("check", "rules", RULES.name)


def test_series_that_must_alert_do_and_those_that_must_not_do_not() -> None:
    assert "SUCCESS" in promtool("test", "rules", RULES_TEST.name)


def test_each_rule_is_played_both_ways() -> None:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    cases = yaml.safe_load(RULES_TEST.read_text(encoding="utf-8"))["tests"]
    asked = [each for case in cases for each in case["alert_rule_test"]]
    played = {(each["alertname"], bool(each["exp_alerts"])) for each in asked}
    names = [rule["alert"] for group in groups for rule in group["rules"]]
    assert played == {(name, alerts) for name in names for alerts in (True, False)}
