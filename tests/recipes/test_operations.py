"""docs/operations.md: every command does, as it stands there, what the recipe says.

Every recipe ends in a state that both the oracle and `sluice verify` accept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from local.embedded.broker import Broker
from tests.oracle import Verdict
from tests.worlds.console import ANSWERING, Console
from tests.worlds.operator_scenes import SCENES, Stage
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.processes import Run
from tests.worlds.recipes import Block, recipes
from tests.worlds.records import delete_topic

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker of its own: the topics have the names that the page gives them."""
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture(scope="module")
def shell(kafka: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The process that runs the commands, and at the end has left nothing behind."""
    nowhere = Installed(tmp_path_factory.mktemp("shell"), kafka.bootstrap, [], no_spark)
    places = (str(ROOT), os.environ.get("PYTHONPATH", ""))
    run = nowhere.start_alone(ANSWERING, PYTHONPATH=os.pathsep.join(places))
    yield run
    try:
        assert run.end().returncode == 0
    finally:
        run.clear_away()


@pytest.fixture
def stage(
    kafka: Broker, shell: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Stage]:
    session = partial(request.getfixturevalue, "spark")
    flights = Installed(tmp_path, kafka.bootstrap, ["flights"], session, name="flights")
    flights.write_spec()
    with ExitStack() as besides:
        yield Stage(flights, Console(shell, flights), kafka, besides)
    found = AdminClient({"bootstrap.servers": kafka.bootstrap}).list_topics(timeout=15).topics
    for name in found:
        if name.startswith("flights"):
            delete_topic(kafka.bootstrap, name)


@pytest.mark.parametrize("heading", SCENES)
def test_a_recipe_does_what_it_says(heading: str, stage: Stage) -> None:
    scene = SCENES[heading](stage)
    next(scene)
    blocks = recipes()[heading]
    for block in blocks[:-1]:
        scene.send(followed(block, stage))
    with pytest.raises(StopIteration) as ended:
        scene.send(followed(blocks[-1], stage))
    verdict = ended.value.value
    assert isinstance(verdict, Verdict), "the oracle was not asked"
    assert verdict.exact, verdict
    stage.console.does(["sluice", "verify", stage.flights.name])


def followed(block: Block, stage: Stage) -> list[str]:
    """What its commands have said. Keys of a spec are written; of choices, all are tried."""
    if len(block.choices) > 1:
        return [tried(keys, stage) for keys in block.choices]
    for keys in block.choices:
        stage.flights.write_spec(**placed(keys, stage.flights.folder))
    return [stage.console.does(words) for words in block.commands]


def tried(keys: dict[str, Any], stage: Stage) -> str:
    stage.flights.write_spec(**keys)
    return stage.console.does("sluice plan flights")


def placed(value: Any, folder: Path) -> Any:
    """What is below /data on the page is below the test's folder here."""
    if isinstance(value, dict):
        return {key: placed(each, folder) for key, each in value.items()}
    return value.replace("/data/", f"{folder}/") if isinstance(value, str) else value
