"""Tokens that expire in the middle of a batch: each client renews them, or says what it lacks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.broker.client_settings import ClientSettings
from sluice.broker.raw_log import read_raw_log
from sluice.errors import SluiceError
from sluice.lake.kafka_source import read_ranges
from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.conftest import topic_factory
from tests.production.worlds.secured_broker import REAUTHENTICATED_MS, SecuredBroker
from tests.worlds.pipelines import Installed, Pipelines, more
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

LIFETIME_S = 4
EXPIRED_S = LIFETIME_S + 1.5
# How often Kafka's Java client asks again for a token that it was refused.
ASKED_AGAIN_S = 10


@pytest.fixture(scope="module", autouse=True)
def short_lives(secured: SecuredBroker) -> Iterator[None]:
    """Between the tests, too: a JVM keeps its login, and may renew it at any moment."""
    assert LIFETIME_S * 1000 > REAUTHENTICATED_MS
    secured.tokens.lifetime = LIFETIME_S
    yield
    secured.tokens.lifetime = 300


@pytest.fixture
def trips(secured: SecuredBroker, pipeline: Pipelines) -> Iterator[Installed]:
    """A pipeline with ten records, whose tokens live for seconds."""
    made = pipeline(topic_factory(secured.broker)())
    secured.admits(made, "OAUTHBEARER")
    made.kafka = secured.for_seconds()
    more(made, 10)
    yield made
    secured.tokens.secrets["oauthbearer"] = secured.passwords["OAUTHBEARER"]


def test_a_batch_goes_all_the_way_although_the_token_expires_between_the_steps(
    trips: Installed,
) -> None:
    pipeline = trips.open()
    work = pipeline.plan("test", "pytest")
    time.sleep(EXPIRED_S)
    with pipeline.open_lake() as lake:
        pipeline.ingest(work, lake)
    pipeline.settle("test", "pytest")
    assert trips.judge().facts.rows == 10


def test_the_raw_log_is_read_on_after_its_token_has_expired(
    trips: Installed, secured: SecuredBroker
) -> None:
    pages = read_raw_log(client_of(trips), partition_of(trips), [(0, 5), (10, 15)], timeout=15)
    assert next(pages).end == 10
    before = len(secured.tokens.given)
    time.sleep(EXPIRED_S)
    more(trips, 10, 10)
    assert next(pages).end == 20
    assert len(secured.tokens.given) > before


def test_spark_reads_on_after_its_token_has_expired(
    trips: Installed, spark: SparkSession, secured: SecuredBroker
) -> None:
    megabytes(trips)
    before, began = len(secured.tokens.given), time.monotonic()
    assert slowly(trips, spark) == 4010
    assert time.monotonic() - began > EXPIRED_S
    assert len(secured.tokens.given) >= before + 2


def test_a_secret_that_is_withdrawn_ends_the_run_and_the_next_one_lands_the_same_batch(
    trips: Installed, secured: SecuredBroker
) -> None:
    work = trips.plan()
    secured.tokens.secrets["oauthbearer"] = "another"
    time.sleep(EXPIRED_S)
    began = time.monotonic()
    with pytest.raises(SluiceError, match=r"kafka_default is refused|invalid_token"):
        trips.ingest(work)
    assert time.monotonic() - began < 30
    secured.tokens.secrets["oauthbearer"] = secured.passwords["OAUTHBEARER"]
    time.sleep(ASKED_AGAIN_S + 1)
    trips.run()
    assert list(trips.ranges("committed")) == ["forward-1-1"]
    assert trips.judge().facts.rows == 10


def megabytes(trips: Installed) -> None:
    """More than one fetch can hold."""
    produce(trips.bootstrap, trips.topics[0], [bytes(1000)] * 4000)


def slowly(trips: Installed, spark: SparkSession) -> int:
    """Read all records, 2 ms for each, and count them."""
    wanted = OffsetRange(partition_of(trips), 0, 4010)
    records = read_ranges(spark, client_of(trips), [wanted])
    paused = F.expr("reflect('java.lang.Thread', 'sleep', 2L)")
    return records.withColumn("paused", paused).where("coalesce(paused, '') <> 'no'").count()


def client_of(trips: Installed) -> ClientSettings:
    return ClientSettings.from_extra("kafka_default", trips.kafka)


def partition_of(trips: Installed) -> TopicPartition:
    return TopicPartition(trips.topics[0], 0)
