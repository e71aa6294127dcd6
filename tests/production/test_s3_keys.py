"""Temporary keys that expire while a pipeline is at work: a run ends, and the next one is exact."""

from __future__ import annotations

import json
import time

import pytest

from local.embedded.gateway import Gateway
from tests.production.worlds.answers import COMMIT, DATA_FILE, Answers
from tests.production.worlds.bucket_pipelines import InBucket

pytestmark = [pytest.mark.integration, pytest.mark.spark]

DATA, OFFSETS = "/trips", "/trips__offsets"
TOLD = "ExpiredToken: the keys have expired. Renew the connection sluice_warehouse"
# The first request that is refused; from then on all are.
MOMENTS = {
    "when the plan is committed": f"{OFFSETS}{COMMIT}",
    "when a file is written": f"{DATA}/.*{DATA_FILE}",
    "when the batch is committed": f"{DATA}{COMMIT}",
}


@pytest.fixture
def trips(landed_in_bucket: InBucket) -> InBucket:
    return landed_in_bucket


def refused(trips: InBucket, answers: Answers, path: str, **env: str) -> str:
    """What a run says whose keys expire at such a request."""
    began = time.monotonic()
    with answers.to("PUT", path, answer=400, from_then_on=True):
        done = trips.process("run", **env)
        assert answers.met()
    assert done.returncode == 1
    assert TOLD in done.stderr, done.stderr
    assert time.monotonic() - began < 60
    assert trips.gateway.secret not in done.stdout + done.stderr
    return done.stderr


@pytest.mark.parametrize("path", MOMENTS.values(), ids=MOMENTS)
def test_a_run_whose_keys_expire_ends_with_what_to_renew(
    trips: InBucket, answers: Answers, path: str
) -> None:
    refused(trips, answers, path)
    trips.exact()


def test_keys_that_expire_before_the_receipt_cost_nothing(
    trips: InBucket, answers: Answers
) -> None:
    trips.process("run", SLUICE_TEST="1", SLUICE_FAILPOINT="before receipt: raise")
    assert trips.version() == 2
    refused(trips, answers, f"{OFFSETS}{COMMIT}")
    trips.exact()


def test_a_token_that_has_expired_is_not_repeated_although_the_store_does(
    trips: InBucket, answers: Answers, gateway: Gateway
) -> None:
    """The server of the tests knows no session tokens: none gets to it."""
    connection = json.loads(gateway.connection(trips.port))
    connection["extra"]["aws_session_token"] = "canary-of-a-token"
    with answers.to("GET", ".", answer=400, from_then_on=True):
        done = trips.process("run", AIRFLOW_CONN_SLUICE_WAREHOUSE=json.dumps(connection))
    assert done.returncode == 1
    assert TOLD in done.stderr, done.stderr
    assert "canary" not in done.stdout + done.stderr
    trips.exact()


def test_a_spark_server_whose_own_keys_have_expired_is_named(
    trips: InBucket, answers: Answers
) -> None:
    began = time.monotonic()
    with answers.to("PUT", f"{DATA}/.*{DATA_FILE}", answer=400):
        done = trips.process("run")
    assert done.returncode == 1
    assert "a Spark Connect server has keys of its own" in done.stderr, done.stderr
    assert time.monotonic() - began < 60
    trips.exact()
