"""A run without jars is refused in one line, and lands the same batch once they are there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import SPARK

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    made = pipeline(topic(1))
    produce(made.bootstrap, made.topics[0], numbered(7), 0)
    return made


@pytest.mark.integration
@pytest.mark.spark
@pytest.mark.seam
def test_a_run_without_jars_is_one_line_with_the_command(trips: Installed, tmp_path: Path) -> None:
    refused = trips.process("run", SLUICE_JARS=str(tmp_path))
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert len(refused.stderr.splitlines()) == 1
    assert refused.stderr.startswith("SettingsError: Spark's jars: expected the ")
    assert "Run `sluice jars` once" in refused.stderr
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert trips.judge().facts.rows == 7


def test_the_command_says_where_all_jars_are_and_fetches_none_twice(
    nowhere: Installed, tmp_path: Path
) -> None:
    """The jars of the checkout, so that nothing is downloaded."""
    there = JarFolder.in_environment(os.environ).of(SPARK)
    given = JarFolder(tmp_path).of(SPARK)
    given.mkdir()
    for each in there.glob("*.jar"):
        (given / each.name).symlink_to(each)
    done = nowhere.process("jars", "--to", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["sets"]
    assert (found["folder"], found["jars"]) == (str(given), len(SPARK.listed) + 1)
    assert found["fetched"] is False
    assert found["bytes"] > 10**7
    assert done.stderr == ""
    assert "there already" in nowhere.process("jars", "--to", str(tmp_path)).stdout
