"""Time limits: settle's grows with the largest run that a spec allows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sluice.scheduling.time_limits import SHORT, settle_limit
from sluice.settings import LONGEST_RUN

from tests.unit.builders import spec


@pytest.mark.parametrize(
    ("records", "batches", "limit"),
    [
        (1, 1, SHORT),
        (5_000_000, 20, SHORT + timedelta(minutes=33, seconds=20)),
        (50_000_000, 20, SHORT + timedelta(hours=5, minutes=33, seconds=20)),
        (1_000_000_000, 1000, LONGEST_RUN),
    ],
)
def test_settles_time_grows_with_its_work(records, batches, limit):
    found = settle_limit(spec(max_records_per_batch=records, max_batches_per_run=batches))
    assert abs(found - limit) < timedelta(seconds=1)


def test_the_largest_batch_of_all_can_be_settled_in_one_try():
    assert settle_limit(spec(max_records_per_batch=10**9, max_batches_per_run=1)) < LONGEST_RUN


def test_the_dag_has_it(write_spec, parse):
    write_spec("flights", max_records_per_batch=10**9, max_batches_per_run=20)
    write_spec("weather")
    dags = parse().dags
    assert dags["flights"].get_task("settle").execution_timeout == LONGEST_RUN
    assert SHORT < dags["weather"].get_task("settle").execution_timeout < LONGEST_RUN
