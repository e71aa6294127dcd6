"""docs/monitoring: what Grafana needs to show the dashboard as it is; each alert is explained."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import yaml

from tests.worlds.monitoring import DASHBOARD, FOLDER, RULES

FOUND: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = FOUND["panels"]


def test_the_page_says_what_each_alert_means() -> None:
    page = (FOLDER.parent / "metrics.md").read_text(encoding="utf-8")
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    alerts = [rule["alert"] for group in groups for rule in group["rules"]]
    assert [each for each in alerts if f"| `{each}` |" not in page] == []


def test_each_panel_has_an_id_a_title_and_a_place_of_its_own() -> None:
    assert len({each["id"] for each in PANELS}) == len({each["title"] for each in PANELS})
    assert len({each["id"] for each in PANELS}) == len(PANELS)
    places = [each["gridPos"] for each in PANELS]
    assert all(each["x"] + each["w"] <= 24 for each in places)
    assert not [pair for pair in combinations(places, 2) if overlap(*pair)]


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "w"), ("y", "h"))
    )


def test_every_panel_asks_the_chosen_prometheus_about_the_chosen_pipelines() -> None:
    variables = {each["name"] for each in FOUND["templating"]["list"]}
    assert variables == {"datasource", "pipeline"}
    for target in (each for panel in PANELS for each in panel["targets"]):
        assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert '{pipeline=~"$pipeline"}' in target["expr"]


def test_the_page_lists_each_panel_in_order_with_the_metrics_that_it_shows() -> None:
    page = (FOLDER.parent / "metrics.md").read_text(encoding="utf-8")
    table = page.partition("| panel of the dashboard |")[2]
    listed = {
        cells[1].strip(): set(re.findall(r"`(\w+)`", cells[3]))
        for cells in (line.split("|") for line in table.splitlines()[2:] if line.startswith("|"))
    }
    shown = {
        panel["title"]: {
            name for each in panel["targets"] for name in re.findall(r"sluice_\w+", each["expr"])
        }
        for panel in PANELS
    }
    assert list(listed) == list(shown)
    assert listed == shown
