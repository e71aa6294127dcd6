"""Monitoring: datagrams that were sent, and the names of docs/monitoring that Prometheus reads."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "docs" / "monitoring"
RULES = FOLDER / "prometheus-rules.yaml"
RULES_TEST = FOLDER / "prometheus-rules.test.yaml"
DASHBOARD = FOLDER / "grafana-dashboard.json"
MAPPING = FOLDER / "statsd-mapping.yaml"
_NAME = re.compile(r"\bsluice_[a-z_]+")


def received(port: socket.socket, patience: float = 0.2) -> list[str]:
    """The datagrams that wait at a port."""
    port.settimeout(patience)
    found = []
    try:
        while True:
            found.append(port.recv(65536).decode())
    except TimeoutError:
        return found


def rule_names() -> set[str]:
    """The metrics that the rules name."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return _names(rule["expr"] for group in groups for rule in group["rules"])


def dashboard_names() -> set[str]:
    """The metrics that the dashboard names."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return _names(text for key, text in _texts(dashboard) if key in ("expr", "query", "definition"))


def _names(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _NAME.findall(text)}


def _texts(found: Any) -> Iterator[tuple[str, str]]:
    if isinstance(found, dict):
        for key, value in found.items():
            if isinstance(value, str):
                yield key, value
            yield from _texts(value)
    elif isinstance(found, list):
        for value in found:
            yield from _texts(value)


def mapped(datagram: str) -> tuple[str, dict[str, str]] | None:
    """The name and the labels of a StatsD datagram, by the exporter's mapping; None without one.

    As statsd_exporter reads it: the first that matches, where `*` is one part of the name.
    """
    name = datagram.partition(":")[0]
    for rule in yaml.safe_load(MAPPING.read_text(encoding="utf-8"))["mappings"]:
        pattern = re.escape(rule["match"]).replace(r"\*", r"([^.]*)")
        if found := re.fullmatch(pattern, name):
            return _filled(rule["name"], found), {
                label: _filled(value, found) for label, value in rule.get("labels", {}).items()
            }
    return None


def _filled(template: str, found: re.Match[str]) -> str:
    return re.sub(r"\$(\d)|\$\{(\d)\}", lambda at: found[int(at[1] or at[2])], template)
