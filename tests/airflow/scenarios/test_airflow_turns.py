"""In a real Airflow, forward runs and backfill runs of one pipeline take turns."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from local.embedded.airflow_client import DagRun
from local.embedded.waiting import until
from tests.worlds.backfill_runs import backfill, contents, landed, position, run_of, stamps
from tests.worlds.deployment import RUN_SECONDS, Deployment

pytestmark = [pytest.mark.integration, pytest.mark.airflow]


@pytest.fixture(scope="module")
def slow(deployments: dict[str, Deployment]) -> Deployment:
    return landed(deployments["slow"], 24, stamps(0, 2, each=6))


def in_order(of: Deployment) -> list[str]:
    """The batches in the order of their commits."""
    rows = of.offsets("committed")
    return [batch for _, batch in sorted({(row["data_version"], row["batch"]) for row in rows})]


def test_fresh_data_goes_first_and_a_long_backfill_ends(slow: Deployment) -> None:
    """Two backfill runs with six batches, and twice a forward run that comes in between.

    The Spark of a backfill run is frozen until the forward run has planned; its date is later than
    theirs, like a scheduled one's. The ingest that makes way has used up none of its retries.
    """
    before = contents(slow)
    backfill(slow, 0, 1, max_active_runs=2)
    made_way = [makes_way(slow) for _ in range(2)]
    for number in range(2):
        slow.succeeds(run_of(slow, number))
        assert slow.client.tasks(run_of(slow, number))["ingest"].try_number == 1
    assert all("comes after fresh data" in slow.client.log(run, "ingest") for run in made_way)
    assert in_order(slow) == [
        *(f"forward-1-{number}" for number in range(1, 7)),
        *("backfill-1-1", "forward-1-7"),
        *("backfill-1-2", "forward-1-8"),
        *(f"backfill-1-{number}" for number in range(3, 7)),
    ]
    assert set(contents(slow)) > set(before)
    assert position(slow) == [16, 16]
    slow.assert_exact()


def makes_way(slow: Deployment) -> DagRun:
    """The backfill run that let a forward run pass."""
    with slow.frozen_spark("backfill") as long:
        slow.produce(4)
        until(lambda: all(ready(slow, each) for each in range(2)), "both plans", RUN_SECONDS)
        date = datetime.now(UTC).isoformat()
        fresh = slow.client.trigger(slow.pipeline, logical_date=date)
        slow.client.wait_for_task(fresh, "plan", "success", RUN_SECONDS)
    slow.succeeds(fresh)
    return long


def ready(of: Deployment, number: int) -> bool:
    return of.states(run_of(of, number)).get("plan") == "success"
