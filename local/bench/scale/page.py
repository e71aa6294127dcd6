"""The page: how long a real Airflow with many pipelines takes to show it, over HTTP.

Each pipeline has tables of its own; all read one topic. The first look comes right after the
api-server has started: it imports the page, and knows nothing yet.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import httpx
from sluice.offsets.quantities import format_count

from local.bench.scale.build import build
from local.bench.scale.fleet import Seconds, write_specs
from local.bench.scale.world import World, new_topic
from local.embedded.airflow_processes import Airflow

_ROUNDS = 10
_PATIENCE_S = 600
# The page asks to be loaded again while anything is read for the first time.
_AGAIN = " data-again"


def page(folder: Path, bootstrap: str, counts: Sequence[int], partitions: int) -> Iterator[Seconds]:
    """The overview and the page of a pipeline, over so many pipelines, each with an Airflow."""
    new_topic(bootstrap, "page", partitions, 11)
    worlds = [
        World(folder / "tables", bootstrap, f"p{number:04d}", "page", partitions, 10)
        for number in range(max(counts))
    ]
    for world in worlds:
        build(world)
    for count in counts:
        specs = write_specs(folder / f"specs{count}", worlds[:count])
        airflow = Airflow(
            folder / f"airflow{count}", bootstrap, warehouse=folder / "tables", pipelines=specs
        )
        with airflow:
            named = f"{format_count(count, 'pipeline')} of {partitions} partitions"
            for what, seconds in _looks(airflow, worlds[:count]):
                yield Seconds(f"{named}: {what}", seconds)


def _looks(airflow: Airflow, worlds: Sequence[World]) -> Iterator[tuple[str, float]]:
    # Airflow lists a DAG only to who may read it, and a page shows no other.
    _wait(lambda: _dags(airflow) >= len(worlds), "DAGs")
    with httpx.Client(base_url=airflow.url, timeout=120, trust_env=False) as browser:
        login = {"username": airflow.login.username, "password": airflow.login.password}
        token = browser.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        browser.headers["Authorization"] = f"Bearer {token}"

        def look(path: str) -> str:
            return browser.get(f"/sluice{path}").raise_for_status().text

        yield "first look at all", _seconds(lambda: look("/"))
        began = time.monotonic()
        _wait(lambda: _AGAIN not in look("/"), "all rows")
        yield "until all are read", time.monotonic() - began
        yield "a later look", _median(lambda: look("/"))
        yield "a later look, all rows", _median(lambda: look("/?every=true"))
        yield "first look at one", _seconds(lambda: look(f"/pipelines/{worlds[0].pipeline}"))
        yield "a later look at one", _median(lambda: look(f"/pipelines/{worlds[0].pipeline}"))


def _dags(airflow: Airflow) -> int:
    query = {"dag_id_pattern": "p0", "limit": 1}
    return int(airflow.client.request("GET", "/dags", params=query)["total_entries"])


def _median(look: Callable[[], object]) -> float:
    return statistics.median(_seconds(look) for _ in range(_ROUNDS))


def _seconds(look: Callable[[], object]) -> float:
    began = time.monotonic()
    look()
    return time.monotonic() - began


def _wait(there: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not there():
        if time.monotonic() > deadline:
            raise click.ClickException(f"no {what} after {_PATIENCE_S} s")
        time.sleep(0.2)
