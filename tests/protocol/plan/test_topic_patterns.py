"""Topics of a pattern come and go: new ones are found, and one that is gone asks for a decision."""

from __future__ import annotations

import pytest
from sluice.errors import ResetNeeded
from sluice.offsets.notation import parse_scope
from sluice.operations.reset.targets import named_target

from local.embedded.broker import Broker
from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_topic, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


def reset(trips: Installed, name: str, value: str, *topics: str) -> None:
    target = named_target(name, value, map(parse_scope, topics))
    trips.open().reset(target, "it is gone", "test", "pytest")


def test_the_other_topics_go_on_when_one_is_gone_and_it_may_come_back(
    broker: Broker, topic: Topic, pipeline: Pipelines
) -> None:
    stays = topic()
    goes = topic(2, name=f"{stays}.goes")
    trips = pipeline(topic_pattern=f"{stays}.*")
    for name, partition in ((stays, 0), (goes, 0), (goes, 1)):
        produce(broker.bootstrap, name, numbered(3), partition)
    trips.run()

    # It is deleted with records that are planned, and not read yet.
    for name in (stays, goes):
        produce(broker.bootstrap, name, numbered(2, first=3))
    before = read_truth(broker.bootstrap, [stays, goes])
    work = trips.plan()
    delete_topic(broker.bootstrap, goes)
    with pytest.raises(ResetNeeded, match=rf"{goes}\[0\]: .*no such partition.*\n.*--shift-by 0`"):
        trips.ingest(work)

    # The next moves that the error names.
    trips.write_spec(except_topics=[goes])
    with pytest.raises(ResetNeeded, match="This batch was planned before"):
        trips.run()
    reset(trips, "shift-by", "0")
    trips.run()
    found = topic(name=f"{stays}.new")
    produce(broker.bootstrap, found, numbered(4))
    trips.run()
    assert trips.ranges()["forward-2-2"] == {
        f"{stays}[0]": (5, 5),
        f"{goes}[0]": (3, 3),
        f"{goes}[1]": (3, 3),
        f"{found}[0]": (0, 4),
    }
    trips.topics = [stays, found]
    assert trips.judge(remembered=before, caught_up=False).facts.rows == 15

    # A topic of that name is created anew, with fewer partitions; and is wanted again.
    topic(name=goes)
    produce(broker.bootstrap, goes, numbered(6))
    assert not trips.plan(), "it is excepted"
    trips.write_spec(except_topics=[])
    with pytest.raises(ResetNeeded, match=r"created anew\n.*\n.*--to-earliest --topic "):
        trips.plan()
    reset(trips, "to-earliest", "", goes)
    trips.run()
    assert trips.ranges()["forward-3-1"] == {
        f"{stays}[0]": (5, 5),
        f"{goes}[0]": (0, 6),
        f"{goes}[1]": (3, 3),
        f"{found}[0]": (4, 4),
    }
    trips.topics = [stays, goes, found]
    # A group knows topics by name alone: the oracle would hold it against the old topic's cursor.
    assert trips.judge(remembered=before, caught_up=False, group=None).facts.rows == 21
