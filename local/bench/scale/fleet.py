"""A fleet: what commands and the page take over many pipelines, whole processes and HTTP.

Each pipeline has tables of its own; all read one topic. The first look at the page comes right
after the api-server has started: it imports the page, and knows nothing yet.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import httpx
from sluice.offsets.quantities import format_count

from local.bench.scale.build import build_many
from local.bench.scale.world import World, new_topic
from local.bench.whole_processes import seconds_of
from local.embedded.airflow_processes import Airflow, connections
from local.embedded.waiting import until

# What was taken, and its seconds.
Taken = tuple[str, float]
COMMANDS = ("list", "check", "status", "status --json")
_COMMAND_ROUNDS, _LOOKS = 3, 10
_PATIENCE_S = 600
# The page asks to be loaded again while anything is read for the first time.
_AGAIN = " data-again"


def commands(folder: Path, bootstrap: str, counts: Sequence[int]) -> Iterator[Taken]:
    """Each command over so many pipelines, whose tables are in one warehouse."""
    new_topic(bootstrap, "fleet", 2, 11)
    worlds = build_many(folder / "tables", bootstrap, "fleet", 2, max(counts))
    for count in counts:
        kafka = "AIRFLOW_CONN_KAFKA_DEFAULT"
        environment = {
            **os.environ,
            "SLUICE_WAREHOUSE": str(folder / "tables"),
            "SLUICE_PIPELINES": str(_specs(folder / f"specs{count}", worlds[:count])),
            kafka: connections(bootstrap)[kafka],
        }
        for command in COMMANDS:
            words = [str(Path(sys.executable).with_name("sluice")), *command.split()]
            taken = [
                seconds_of([words], environment, folder / "said.log")
                for _ in range(_COMMAND_ROUNDS)
            ]
            yield f"{format_count(count, 'pipeline')}: sluice {command}", statistics.median(taken)


def page(folder: Path, bootstrap: str, counts: Sequence[int], partitions: int) -> Iterator[Taken]:
    """The overview and the page of a pipeline, over so many pipelines, each with an Airflow."""
    new_topic(bootstrap, "page", partitions, 11)
    worlds = build_many(folder / "tables", bootstrap, "page", partitions, max(counts))
    for count in counts:
        specs = _specs(folder / f"specs{count}", worlds[:count])
        home = folder / f"airflow{count}"
        with Airflow(home, bootstrap, warehouse=folder / "tables", pipelines=specs) as airflow:
            named = f"{format_count(count, 'pipeline')} of {partitions} partitions"
            for what, seconds in _looks(airflow, worlds[:count]):
                yield f"{named}: {what}", seconds


def _specs(folder: Path, worlds: Sequence[World]) -> Path:
    folder.mkdir(parents=True)
    for world in worlds:
        # JSON is YAML.
        text = world.spec.model_dump_json(exclude_unset=True, by_alias=True)
        (folder / f"{world.pipeline}.yaml").write_text(text, encoding="utf-8")
    return folder


def _looks(airflow: Airflow, worlds: Sequence[World]) -> Iterator[Taken]:
    # Airflow lists a DAG only to who may read it, and a page shows no other.
    until(lambda: _dags(airflow) >= len(worlds), "all DAGs", _PATIENCE_S, pause=0.2)
    with httpx.Client(base_url=airflow.url, timeout=120, trust_env=False) as browser:
        login = {"username": airflow.login.username, "password": airflow.login.password}
        token = browser.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        browser.headers["Authorization"] = f"Bearer {token}"

        def look(path: str) -> str:
            return browser.get(f"/sluice{path}").raise_for_status().text

        one = f"/pipelines/{worlds[0].pipeline}"
        yield "first look at all", _median(lambda: look("/"), 1)
        began = time.monotonic()
        until(lambda: _AGAIN not in look("/"), "all rows", _PATIENCE_S, pause=0.2)
        yield "until all are read", time.monotonic() - began
        yield "a later look", _median(lambda: look("/"))
        yield "a later look, all rows", _median(lambda: look("/?every=true"))
        yield "first look at one", _median(lambda: look(one), 1)
        yield "a later look at one", _median(lambda: look(one))


def _dags(airflow: Airflow) -> int:
    query = {"dag_id_pattern": "p0", "limit": 1}
    return int(airflow.client.request("GET", "/dags", params=query)["total_entries"])


def _median(look: Callable[[], object], times: int = _LOOKS) -> float:
    seconds = []
    for _ in range(times):
        began = time.monotonic()
        look()
        seconds.append(time.monotonic() - began)
    return statistics.median(seconds)
