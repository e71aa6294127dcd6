"""Every step of the protocol, killed or failed there: the next run makes the table exact."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace

import pytest
from sluice.errors import SparkFailed

from tests.faults.striking import ALONE, Faulty, strike
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.processes import SETTLING_ALONE
from tests.worlds.records import group_positions, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


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
# What settles has two batches before it.
BOTH_COMMITTED = Durable(plans=2, version=2, rows=10)
BOTH_SETTLED = replace(BOTH_COMMITTED, receipts=2)
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
    "before receipt": BOTH_COMMITTED,
    "quarantine to close": BOTH_COMMITTED,
    "before mirror": BOTH_SETTLED,
    "after mirror": replace(BOTH_SETTLED, group=10),
}
# By the number of plans.
PLANS = {0: [], 1: [(0, 10)], 2: [(0, 6), (6, 10)]}
CASES = [
    *((point, "kill") for point in DURABLE),
    # After a lost reply the run goes on: see test_lost_replies.
    *((point, "raise") for point in DURABLE if point != "reply lost"),
    # Nothing handles SIGTERM, and what hangs is killed: what is durable then is as above.
    ("reading", "term"),
    ("files written", "hang"),
]
# On a server: the steps that Spark has a part in. SIGTERM is handled there, to end what runs.
AT_WORK = (
    *("spark started", "reading", "quarantine written"),
    *("files written", "commit landed", "reply lost"),
)
PLACES = [
    *(("own", *case) for case in CASES),
    *(("server", point, "kill") for point in AT_WORK),
    ("server", "files written", "raise"),
    ("server", "reading", "term"),
]

# One fails in the JVM; another one shows how a command ends that has failed.
FAIL_APART = ("files written", "spark started")


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


def waiting(faulty: Faulty, point: str) -> Installed:
    """A pipeline with unread records, and the way to that step open."""
    if point == "quarantine written":
        trips = faulty(format=JSON, quarantine={"max_ratio": 0.5})
    elif ALONE.get(point) == SETTLING_ALONE:
        trips = faulty(max_records_per_batch=6)
    else:
        trips = faulty()
    produce(trips.bootstrap, trips.topics[0], VALUES)
    if ALONE.get(point) == SETTLING_ALONE:
        trips.ingest(trips.plan())
    return trips


def stopped(trips: Installed, point: str, kind: str) -> None:
    """Stop a run there. What fails in Python needs no process of its own."""
    if kind == "raise" and point not in FAIL_APART:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLUICE_TEST", "1")
            patch.setenv("SLUICE_FAILPOINT", f"{point}: raise")
            with pytest.raises(SparkFailed, match="a failpoint raised this"):
                trips.run()
        return
    done = strike(trips, point, kind)
    assert done.returncode == ENDS[kind], done.stderr
    if point not in ALONE:
        assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize(("place", "point", "kind"), PLACES, indirect=["place"])
def test_whatever_stops_a_run_nothing_is_half_done_and_the_next_one_goes_on(
    faulty: Faulty, point: str, kind: str
) -> None:
    trips = waiting(faulty, point)
    stopped(trips, point, kind)
    found, malformed = durable(trips), int(point == "quarantine written")
    assert found == DURABLE[point]
    if point == "files written":
        assert any(trips.data.glob("*.parquet"))
    if found.rows:
        is_settled_without_spark(trips, found)

    produce(trips.bootstrap, trips.topics[0], numbered(MORE, 10))
    trips.run()
    # A plan that was durable is adopted as it was; the new records come in a batch of their own.
    planned = [*PLANS[found.plans], (10, 15)] if found.plans else [(0, 15)]
    expected = {f"forward-1-{number}": {"[0]": each} for number, each in enumerate(planned, 1)}
    assert trips.ranges() == expected == trips.ranges("committed")
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (len(VALUES) + MORE - malformed, malformed)
    assert [row["_offset"] for row in trips.quarantined()] == [4] * malformed


def is_settled_without_spark(trips: Installed, found: Durable) -> None:
    """What is committed is not read or written again: it lacks its receipts, and the mirror."""
    spark, trips.session = trips.session, no_spark
    settled = trips.run()
    trips.session = spark
    assert len(settled) == found.plans - found.receipts
    assert durable(trips) == replace(found, receipts=found.plans, group=10)
