"""Least privilege: every right that docs/security.md lists is needed, and its lack is named."""

from __future__ import annotations

import logging

import pytest
from confluent_kafka.admin import AclOperation
from sluice.errors import ResetNeeded, SettingsError
from sluice.operations.overview.find_fleet import find_fleet

from tests.conftest import topic_factory
from tests.production.worlds.secured_broker import (
    Right,
    SecuredBroker,
    produce_with_gaps,
    rights,
)
from tests.worlds.pipelines import Installed, Pipelines, more
from tests.worlds.records import group_positions

pytestmark = [pytest.mark.integration, pytest.mark.spark]

MECHANISM = "SCRAM-SHA-512"


@pytest.fixture
def trips(secured: SecuredBroker, pipeline: Pipelines) -> Installed:
    made = pipeline(topic_factory(secured.broker)(2))
    secured.admits(made, MECHANISM)
    return made


def without(secured: SecuredBroker, right: Right, instead: AclOperation | None = None) -> Right:
    """Take a right away, and perhaps give a lesser one."""
    user, (kind, name, _) = secured.user(MECHANISM), right
    secured.take_away(user, right)
    if instead is not None:
        secured.allow(user, (kind, name, instead))
    return right


def lacks(trips: Installed, operation: str) -> pytest.RaisesExc[SettingsError]:
    """Expect a refusal that names what is missing."""
    return pytest.raises(SettingsError, match=f"needs {operation} on topic {trips.topics[0]}")


def test_a_topic_is_described_before_anything_is_planned(
    trips: Installed, secured: SecuredBroker
) -> None:
    produce_with_gaps(trips)
    read, *_ = rights(trips)
    without(secured, read)
    with lacks(trips, "DESCRIBE"):
        trips.plan()
    assert trips.rows("trips__offsets") == []
    secured.allow(secured.user(MECHANISM), read)
    trips.run()
    assert trips.judge().facts.rows == 20


def test_a_topic_that_may_be_described_is_not_read_yet(
    trips: Installed, secured: SecuredBroker
) -> None:
    produce_with_gaps(trips)
    read, *_ = rights(trips)
    without(secured, read, instead=AclOperation.DESCRIBE)
    work = trips.plan()
    with lacks(trips, "READ"):
        trips.ingest(work)
    assert trips.rows() == []
    secured.allow(secured.user(MECHANISM), read)
    trips.run()
    without(secured, read)
    verified = trips.sluice("verify")
    assert verified.returncode == 1
    assert f"needs READ on topic {trips.topics[0]}" in verified.stderr
    assert trips.judge().facts.rows == 20


def test_whether_a_topic_compacts_is_known_before_it_is_read(
    trips: Installed, secured: SecuredBroker
) -> None:
    produce_with_gaps(trips)
    _, configuration, _ = rights(trips)
    work = trips.plan()
    without(secured, configuration)
    with lacks(trips, "DESCRIBE_CONFIGS"):
        trips.ingest(work)
    assert trips.rows() == []
    secured.allow(secured.user(MECHANISM), configuration)
    trips.ingest(work)
    without(secured, configuration)
    # The gaps may be explained by it.
    with lacks(trips, "DESCRIBE_CONFIGS"):
        trips.settle()
    assert trips.ranges("committed") == {}
    secured.allow(secured.user(MECHANISM), configuration)
    trips.run()
    assert trips.judge().facts.rows == 20


def test_the_group_is_only_a_mirror(
    trips: Installed, secured: SecuredBroker, caplog: pytest.LogCaptureFixture
) -> None:
    more(trips, 10)
    *_, group = rights(trips)
    without(secured, group)
    with caplog.at_level(logging.WARNING):
        trips.run()
    assert f"needs READ on group {trips.group}" in "\n".join(caplog.messages)
    assert trips.judge().facts.rows == 10
    secured.allow(secured.user(MECHANISM), group)
    trips.settle()
    assert group_positions(secured.bootstrap, trips.group, trips.topics[0]) == [10]


def test_a_topic_of_a_pattern_that_is_no_longer_seen_is_named(
    trips: Installed, secured: SecuredBroker
) -> None:
    """Kafka lists only what its user may describe: to Sluice, the others are not there."""
    (topic,) = trips.topics
    trips.write_spec(topic_pattern=topic)
    more(trips, 10)
    trips.run()
    read, *_ = rights(trips)
    without(secured, read)
    with pytest.raises(ResetNeeded, match=rf"{topic}\[0\]: expected a log to go on with at 10"):
        trips.plan()
    secured.allow(secured.user(MECHANISM), read)
    more(trips, 10, 10)
    trips.run()
    assert trips.judge().facts.rows == 20


def test_a_right_that_one_pipeline_lacks_hinders_no_other(trips: Installed) -> None:
    """Of all that share a connection, only the one without it is unknown, and says which."""
    more(trips, 10)
    for name in ("alone", "forbidden", "zoo"):
        topics = trips.topics if name != "forbidden" else ["nobody_may"]
        spec = trips.spec_file.read_text().replace(f"pipeline: {trips.name}", f"pipeline: {name}")
        spec = spec.replace(f"table: {trips.name}", f"table: {name}")
        spec = spec.replace(trips.group, f"{trips.group}-{name}")
        (trips.spec_file.parent / f"{name}.yaml").write_text(
            spec.replace(trips.topics[0], topics[0])
        )
    found = {each.spec.pipeline: each for each in find_fleet(trips.environment).read()}
    assert {name: each.lag for name, each in found.items()} == {
        "alone": 10,
        "forbidden": None,
        trips.name: 10,
        "zoo": 10,
    }
    assert "needs DESCRIBE on topic nobody_may" in found["forbidden"].reason
    trips.run()
    assert trips.judge().facts.rows == 10
