"""A login or a certificate that is refused: told soon, by name, for good; nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from sluice.broker.batch_probes import read_fingerprints
from sluice.broker.client_settings import ClientSettings
from sluice.errors import SettingsError, SluiceError
from sluice.lake.kafka_source import read_ranges
from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.conftest import topic_factory
from tests.oracle import no_secret
from tests.production.worlds.authority import Authority
from tests.production.worlds.secured_broker import SecuredBroker
from tests.worlds.pipelines import Installed, Pipelines, more

pytestmark = [pytest.mark.integration, pytest.mark.spark]

Extra = dict[str, str]
WRONG = "canary-that-nobody-knows"


def wrong_secret(mechanism: str) -> Callable[[SecuredBroker], Extra]:
    return lambda secured: secured.connection(mechanism, WRONG)


def unknown_authority(secured: SecuredBroker) -> Extra:
    return {**secured.connection("PLAIN"), "ssl.ca.pem": Authority().certificate}


def another_host(secured: SecuredBroker) -> Extra:
    """The certificate names 127.0.0.1 only."""
    extra = secured.connection("PLAIN")
    return {
        **extra,
        "bootstrap.servers": extra["bootstrap.servers"].replace("127.0.0.1", "localhost"),
    }


def unknown_token_endpoint(secured: SecuredBroker) -> Extra:
    return {**secured.connection("OAUTHBEARER"), "https.ca.pem": Authority().certificate}


@dataclass(frozen=True)
class Refusal:
    """A connection that is refused, and what librdkafka, the raw log's client and Java say."""

    connection: Callable[[SecuredBroker], Extra]
    librdkafka: str
    raw: str
    java: str


# Java's log says why.
NO_TOKEN = "Failed to create new KafkaAdminClient"
BAD_LOGIN = ("invalid credentials",) * 3
BAD_CERTIFICATE = (
    "certificate verify failed",
    "certificate verify failed",
    "signature check failed",
)
REFUSED = {
    "PLAIN": Refusal(wrong_secret("PLAIN"), *("Invalid username or password",) * 3),
    "SCRAM-SHA-256": Refusal(wrong_secret("SCRAM-SHA-256"), *BAD_LOGIN),
    "SCRAM-SHA-512": Refusal(wrong_secret("SCRAM-SHA-512"), *BAD_LOGIN),
    "OAUTHBEARER": Refusal(
        wrong_secret("OAUTHBEARER"), "invalid_client", "/token: refused a token: 401", NO_TOKEN
    ),
    "unknown authority": Refusal(unknown_authority, *BAD_CERTIFICATE),
    "another host": Refusal(
        another_host, "certificate verify failed", "Hostname mismatch", "No name matching localhost"
    ),
    "unknown token endpoint": Refusal(
        unknown_token_endpoint,
        "Failed to acquire SASL OAUTHBEARER token: SSL certificate",
        "/token: its certificate is refused",
        NO_TOKEN,
    ),
}
each_refusal = pytest.mark.parametrize("refusal", REFUSED.values(), ids=REFUSED)


@pytest.fixture
def trips(secured: SecuredBroker, pipeline: Pipelines) -> Installed:
    made = pipeline(topic_factory(secured.broker)())
    made.bootstrap = secured.bootstrap
    more(made, 10)
    return made


@each_refusal
def test_a_plan_is_refused_and_nothing_is_written(
    refusal: Refusal, trips: Installed, secured: SecuredBroker
) -> None:
    trips.kafka = refusal.connection(secured)
    told = f"connection kafka_default is refused: .*{refusal.librdkafka}"
    with pytest.raises(SettingsError, match=told) as refused:
        trips.plan()
    assert not (trips.warehouse / "trips__offsets").exists()
    assert WRONG not in str(refused.value)


@each_refusal
def test_the_raw_log_is_refused(refusal: Refusal, trips: Installed, secured: SecuredBroker) -> None:
    client = client_of(refusal.connection(secured))
    with pytest.raises(SluiceError, match=refusal.raw) as refused:
        read_fingerprints(client, {partition_of(trips): 5}, timeout=3)
    assert WRONG not in str(refused.value)


@each_refusal
def test_spark_is_refused(
    refusal: Refusal, trips: Installed, secured: SecuredBroker, spark: SparkSession
) -> None:
    client = client_of(refusal.connection(secured))
    records = read_ranges(spark, client, [OffsetRange(partition_of(trips), 0, 10)])
    with pytest.raises(Py4JJavaError, match=refusal.java) as refused:
        records.count()
    assert WRONG not in str(refused.value)


def test_a_certificate_that_has_expired_stops_a_plan_and_a_batch_that_is_planned(
    trips: Installed, secured: SecuredBroker
) -> None:
    secured.admits(trips, "MTLS")
    work = trips.plan()
    trips.kafka = secured.certified(valid_for=timedelta(hours=-1))
    for step in (trips.plan, lambda: trips.ingest(work)):
        with pytest.raises(SettingsError, match="found that of CN=mtls, which expired at"):
            step()
    assert trips.rows() == []
    trips.kafka = secured.certified()
    trips.run()
    assert list(trips.ranges("committed")) == ["forward-1-1"]
    assert trips.judge().facts.rows == 10


def client_of(extra: Extra) -> ClientSettings:
    return ClientSettings.from_extra("kafka_default", extra)


def partition_of(trips: Installed) -> TopicPartition:
    return TopicPartition(trips.topics[0], 0)


def test_a_password_that_is_changed_is_changed_in_the_connection_too(
    trips: Installed, secured: SecuredBroker
) -> None:
    secured.admits(trips, "SCRAM-SHA-256")
    trips.run()
    more(trips, 10, 10)
    work = trips.plan()
    secured.set_password("SCRAM-SHA-256", "canary-of-the-new-year")
    with pytest.raises(SettingsError, match="connection kafka_default is refused: "):
        trips.ingest(work)
    assert len(trips.rows()) == 10
    trips.kafka = secured.connection("SCRAM-SHA-256")
    trips.run()
    assert list(trips.ranges("committed")) == ["forward-1-1", "forward-1-2"]
    assert trips.judge().facts.rows == 20
    no_secret("canary-of-the-new-year", trips.folder)
