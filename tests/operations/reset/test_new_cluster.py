"""Another Kafka cluster takes the place of the one that was read: a reset of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sluice.errors import ResetNeeded, SettingsError
from sluice.operations.reset.targets import named_target

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def moved_to(tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "another") as broker:
        yield broker


def test_a_new_cluster_is_read_once_it_is_named_as_one(
    topic: Topic, pipeline: Pipelines, moved_to: Broker
) -> None:
    trips = landed(pipeline(topic(2)))
    with pytest.raises(SettingsError, match=r"found the same.* `--new-cluster`"):
        trips.open().preview_reset(named_target("to-earliest", new_cluster=True))
    before = read_truth(trips.bootstrap, trips.topics)
    assert create_topic(moved_to.bootstrap, trips.topics[0], 2, {})
    trips.bootstrap = moved_to.bootstrap
    more(trips, 10, 20)
    with pytest.raises(ResetNeeded, match="`sluice reset trips --to-earliest --new-cluster`"):
        trips.plan()
    refused = trips.sluice("reset", "--to-earliest")
    assert (refused.returncode, "--new-cluster" in refused.stderr) == (1, True)
    command = ("reset", "--to-earliest", "--new-cluster")
    shown = trips.sluice(*command)
    assert (shown.returncode, "Nothing was changed" in shown.stdout) == (0, True), shown.stderr
    done = trips.sluice(*command, "--execute", "--reason", "moved to the new cluster")
    assert done.returncode == 0, done.stderr
    trips.run()
    assert len({row["_topic_id"] for row in trips.rows()}) == 2
    assert len({row["cluster_id"] for row in trips.offsets("planned")}) == 2
    assert trips.judge(remembered=before, group=None).facts.rows == 30
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stderr


def test_a_cluster_without_one_of_the_positions_is_refused(
    topic: Topic, pipeline: Pipelines, moved_to: Broker
) -> None:
    trips: Installed = landed(pipeline(topic(2)), batches=1)
    assert create_topic(moved_to.bootstrap, trips.topics[0], 2, {})
    trips.bootstrap = moved_to.bootstrap
    one = named_target("to-offsets", f"{trips.topics[0]}[0]=0", new_cluster=True)
    with pytest.raises(SettingsError, match=r"\[1\]: expected a position for every partition"):
        trips.open().preview_reset(one)
