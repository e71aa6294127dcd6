"""What a command loads until it has answered: nothing that it does not use."""

from __future__ import annotations

import pytest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = pytest.mark.integration

NEVER = {"pyspark", "py4j", "grpc", "pandas", "airflow", "tornado", "httpx", "requests"}
READING = [
    ("status", {"rich"}),
    ("plan", {"rich"}),
    ("history", {"rich", "aiokafka"}),
    ("quarantine list", {"rich", "aiokafka"}),
]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    made = pipeline(topic(2))
    produce(made.bootstrap, made.topics[0], numbered(7), 0)
    return made


def loaded(trips: Installed, command: str) -> set[str]:
    """The packages that a command's own process loads with modules of theirs."""
    done = trips.process(command, "--json", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr
    found = [
        line.rpartition("|")[2].strip()
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    ]
    assert "sluice.pipeline" in found
    # A package that is looked for in vain is in the list, too, but nothing below it.
    return {each.partition(".")[0] for each in found if "." in each}


@pytest.mark.parametrize(("command", "besides"), READING, ids=[each for each, _ in READING])
def test_a_command_that_reads_loads_no_spark_no_pandas_and_for_programs_no_tables(
    trips: Installed, command: str, besides: set[str]
) -> None:
    trips.plan()
    assert loaded(trips, command) & (NEVER | besides) == set()


@pytest.mark.spark
def test_a_run_with_nothing_new_loads_no_spark(trips: Installed) -> None:
    assert trips.run()
    assert loaded(trips, "run") & (NEVER | {"rich"}) == set()
