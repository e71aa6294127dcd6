"""Lost replies: the commit landed, and its writer was told otherwise; alone, and with a rival."""

from __future__ import annotations

import pytest

from tests.faults.striking import BOTH_PLACES, Faulty, frozen, settled, strike
from tests.worlds.pipelines import Installed
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark, BOTH_PLACES]

# The server's JVM has halted, its guard has started another: no statement goes on there.
GONE = {"own": "Connection", "server": "the Spark server"}


@pytest.fixture
def trips(faulty: Faulty) -> Installed:
    """A pipeline with ten unread records."""
    made = faulty()
    produce(made.bootstrap, made.topics[0], numbered(10))
    return made


@pytest.mark.parametrize(
    ("kind", "reported"),
    [("raise", "IOException"), ("exists", "CONCURRENT_TRANSACTION"), ("halt", GONE)],
)
def test_a_run_that_loses_the_reply_finds_its_own_commit_and_goes_on(
    trips: Installed, place: str, kind: str, reported: str | dict[str, str]
) -> None:
    if trips.server and kind == "halt":
        settled(trips.server)
    done = strike(trips, "reply lost", kind)
    assert done.returncode == 0, done.stderr
    assert "forward-1-1: committed although Spark reported" in done.stderr
    assert (reported if isinstance(reported, str) else reported[place]) in done.stderr
    assert "superseded" not in done.stderr
    assert trips.ranges("committed") == {"forward-1-1": {"[0]": (0, 10)}}
    assert (trips.version(), trips.judge().facts.rows) == (1, 10)


def test_a_run_that_loses_the_reply_after_a_rival_has_gone_on_knows_its_commit(
    trips: Installed,
) -> None:
    """Frozen between its commit and the reply, while another run lands the next batch."""
    winner, jvm = frozen(trips, "reply lost")
    assert (trips.version(), len(trips.rows())) == (1, 10)
    produce(trips.bootstrap, trips.topics[0], numbered(5, 10))
    trips.run()
    assert (trips.version(), len(trips.rows())) == (2, 15)
    jvm.resume()
    done = winner.end()
    assert done.returncode == 0, done.stderr
    assert "superseded" not in done.stderr
    assert (trips.version(), trips.judge().facts.rows) == (2, 15)
