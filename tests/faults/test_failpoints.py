"""Every step of the protocol, stopped in every way: the next run makes the table exact."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from tests.faults.striking import ALONE, strike
from tests.worlds.pipelines import SETTLING_ALONE, Installed
from tests.worlds.records import group_positions, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

Faulty = Callable[..., Installed]

ENDS = {"kill": -signal.SIGKILL, "hang": -signal.SIGKILL, "term": -signal.SIGTERM, "raise": 1}
# One of the ten cannot be decoded, where the batch goes through the quarantine.
VALUES = [*numbered(4), b"{broken", *numbered(5, 5)]
MORE = 5
JSON = {"type": "json", "schema": "id BIGINT"}


@dataclass(frozen=True)
class Durable:
    """What is there at a step of the protocol, and nothing else of it."""

    plans: int = 0
    version: int | None = None
    rows: int = 0
    quarantined: int = 0
    receipts: int = 0
    group: int | None = None


PLANNED = Durable(plans=1)
CREATED = replace(PLANNED, version=0)
COMMITTED = replace(PLANNED, version=1, rows=10)
SETTLED = replace(COMMITTED, receipts=1)
DURABLE = {
    "before planning": Durable(),
    "offsets listed": Durable(),
    "plan durable": PLANNED,
    "spark started": PLANNED,
    "reading": CREATED,
    "quarantine written": replace(CREATED, quarantined=1),
    "files written": CREATED,
    "commit landed": COMMITTED,
    "reply lost": COMMITTED,
    "before receipt": COMMITTED,
    "before mirror": SETTLED,
    "after mirror": replace(SETTLED, group=10),
}
# After a lost reply the run goes on: see test_lost_replies.
CASES = [
    (point, kind) for point in DURABLE for kind in ENDS if (point, kind) != ("reply lost", "raise")
]


def durable(trips: Installed) -> Durable:
    position = group_positions(trips.bootstrap, trips.group, trips.topics[0])[0]
    return Durable(
        len(trips.ranges()),
        trips.version(),
        len(trips.rows()),
        len(trips.quarantined()),
        len(trips.ranges("committed")),
        None if position < 0 else position,
    )


@pytest.mark.parametrize(("point", "kind"), CASES)
def test_whatever_stops_a_run_nothing_is_half_done_and_the_next_one_goes_on(
    faulty: Faulty, point: str, kind: str
) -> None:
    malformed = int(point == "quarantine written")
    keys = {"format": JSON, "quarantine": {"max_ratio": 0.5}} if malformed else {}
    trips = faulty(**keys)
    produce(trips.bootstrap, trips.topics[0], VALUES)
    if ALONE.get(point) == SETTLING_ALONE:
        trips.ingest(trips.plan())
    done = strike(trips, point, kind)
    assert done.returncode == ENDS[kind], done.stderr
    if point not in ALONE:
        assert "Traceback" not in done.stderr, done.stderr
    found, planned = durable(trips), trips.ranges()
    assert found == DURABLE[point]
    if point == "files written":
        assert any(trips.data.glob("*.parquet"))

    produce(trips.bootstrap, trips.topics[0], numbered(MORE, 10))
    trips.run()
    # A plan that was durable is adopted as it was; the new records come in a batch of their own.
    adopted = {**planned, "forward-1-2": {"[0]": (10, 15)}} if planned else trips.ranges()
    assert trips.ranges() == adopted == trips.ranges("committed")
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (len(VALUES) + MORE - malformed, malformed)
