"""A login by AWS IAM, as Amazon MSK has it: each client signs a token of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.conftest import topic_factory
from tests.oracle import no_secret
from tests.production.worlds.msk_broker import MskBroker, msk_broker
from tests.production.worlds.secured_broker import produce_with_gaps
from tests.worlds.pipelines import Installed, Pipelines, more

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PYTHON, JVM = "aws-msk-iam-sasl-signer-python", "sluice"


@pytest.fixture(scope="module")
def msk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MskBroker]:
    with msk_broker(tmp_path_factory.mktemp("msk")) as running:
        yield running


@pytest.fixture
def trips(msk: MskBroker, pipeline: Pipelines) -> Installed:
    """A pipeline with records and an aborted transaction: all three clients are needed."""
    made = pipeline(topic_factory(msk.broker)(2))
    made.bootstrap, made.kafka = msk.broker.bootstrap, msk.connection()
    made.given = dict(msk.environment)
    produce_with_gaps(made)
    return made


def test_a_batch_goes_all_the_way_and_each_client_has_signed(
    trips: Installed, msk: MskBroker
) -> None:
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert msk.signers() == {PYTHON, JVM}
    more(trips, 10, 30)
    assert trips.process("run").returncode == 0
    verified = trips.process("verify", "--json")
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout)["violations"] == []
    assert trips.judge().facts.rows == 30
    no_secret(msk.secret, trips.folder)


def test_what_the_broker_refuses_is_named_and_the_next_run_lands_it(
    trips: Installed, msk: MskBroker
) -> None:
    unknown_key = trips.process("run", AWS_SECRET_ACCESS_KEY="another")
    trips.kafka = msk.connection(**{"aws.region": "us-east-1"})
    another_region = trips.process("run")
    for refused in (unknown_key, another_region):
        assert refused.returncode == 1
        assert "connection kafka_default is refused: " in refused.stderr
    assert not (trips.warehouse / "trips__offsets").exists()
    trips.kafka = msk.connection()
    assert trips.process("run").returncode == 0
    assert trips.judge().facts.rows == 20


def test_a_task_without_aws_credentials_is_refused_before_kafka_is_asked(
    trips: Installed, msk: MskBroker
) -> None:
    trips.given["AWS_SHARED_CREDENTIALS_FILE"] = "/dev/null"
    del trips.given["AWS_ACCESS_KEY_ID"], trips.given["AWS_SECRET_ACCESS_KEY"]
    before = msk.tokens()
    refused = trips.process("run")
    assert "AWS_MSK_IAM needs AWS credentials where the task runs, found none" in refused.stderr
    assert msk.tokens() == before
    assert not (trips.warehouse / "trips__offsets").exists()
