"""Each way to log in: one connection serves all three clients, through every step of a batch."""

from __future__ import annotations

import json

import pytest

from tests.conftest import topic_factory
from tests.production.worlds.secured_broker import MECHANISMS, SecuredBroker, produce_with_gaps
from tests.worlds.pipelines import Pipelines, more

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_batch_goes_all_the_way(
    mechanism: str, secured: SecuredBroker, pipeline: Pipelines
) -> None:
    trips = pipeline(topic_factory(secured.broker)(2))
    secured.admits(trips, mechanism)
    produce_with_gaps(trips)
    (batch,) = trips.run()
    # The five were aborted: only the raw log tells why their offsets have no row.
    assert (batch["records"], batch["gaps"]) == (20, 6)
    more(trips, 10, 30)
    trips.run()
    verified = trips.sluice("verify", "--json")
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout)["violations"] == []
    assert trips.judge().facts.rows == 30
