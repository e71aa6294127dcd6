"""Logins of Amazon MSK and of Kerberos: one connection becomes three clients' settings."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.broker.msk_token import MskToken, signed_token
from sluice.errors import SettingsError

MSK = {
    "bootstrap.servers": "b-1.example.com:9098",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "aws.region": "eu-central-1",
}
KERBEROS = {
    "bootstrap.servers": "kafka-1:9093",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "GSSAPI",
    "sasl.kerberos.principal": "sluice/worker@EXAMPLE.COM",
    "sasl.kerberos.keytab": "/etc/security/sluice.keytab",
}
MODULES = "org.apache.kafka.common.security"


def client(extra: dict[str, Any]) -> ClientSettings:
    return ClientSettings.from_extra("kafka_default", extra)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with a key, and nothing else of AWS."""
    found = {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }
    for name, text in found.items():
        monkeypatch.setenv(name, text)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_java_signs_for_msk_with_our_own_handler_and_the_connections_region() -> None:
    assert client(MSK).java() == {
        "bootstrap.servers": "b-1.example.com:9098",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": (
            f'{MODULES}.oauthbearer.OAuthBearerLoginModule required region="eu-central-1";'
        ),
        "sasl.login.callback.handler.class": "sluice.MskLogin",
    }
    assert client(MSK).signs_with_aws
    assert not client({"bootstrap.servers": "a:1"}).signs_with_aws


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("key", ["sasl.mechanism", "sasl.mechanisms"])
def test_librdkafka_gets_a_token_of_ours_for_msk(key: str) -> None:
    extra = {each: text for each, text in MSK.items() if each != "sasl.mechanism"}
    found = client({**extra, key: "aws_msk_iam"}).librdkafka()
    token, expires = found.pop("oauth_cb")("")
    assert found == {
        "bootstrap.servers": "b-1.example.com:9098",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
    }
    assert token
    assert 0 < expires - datetime.now(UTC).timestamp() <= 900


@pytest.mark.usefixtures("aws")
def test_a_token_is_the_address_of_a_signed_request() -> None:
    token, _ = signed_token("eu-central-1")
    padded = token + "=" * (-len(token) % 4)
    address = urlsplit(base64.urlsafe_b64decode(padded).decode())
    asked = {name: text for name, (text,) in parse_qs(address.query).items()}
    assert address.hostname == "kafka.eu-central-1.amazonaws.com"
    assert asked["Action"] == "kafka-cluster:Connect"
    assert asked["X-Amz-Expires"] == "900"
    assert asked["X-Amz-Credential"].startswith("AKIDEXAMPLE/")
    assert asked["X-Amz-Credential"].endswith("/eu-central-1/kafka-cluster/aws4_request")
    assert "hunter2" not in str(asked)


def test_the_raw_logs_client_gets_a_token_of_ours_for_msk() -> None:
    found = client(MSK).aiokafka(2)
    assert found["sasl_mechanism"] == "OAUTHBEARER"
    assert isinstance(found["sasl_oauth_token_provider"], MskToken)


@pytest.mark.usefixtures("aws")
def test_a_task_without_aws_credentials_is_refused_before_a_client_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(SettingsError, match=r"connection kafka_default: .*found none in the env"):
        client(MSK).librdkafka()


def test_java_logs_in_by_kerberos_with_its_own_module() -> None:
    assert client(KERBEROS).java() == {
        "bootstrap.servers": "kafka-1:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": (
            "com.sun.security.auth.module.Krb5LoginModule required"
            ' principal="sluice/worker@EXAMPLE.COM" keyTab="/etc/security/sluice.keytab"'
            ' useKeyTab="true" storeKey="true";'
        ),
    }


def test_a_service_of_another_name_is_named_to_both_other_clients() -> None:
    found = client({**KERBEROS, "sasl.kerberos.service.name": "broker"})
    assert found.java()["sasl.kerberos.service.name"] == "broker"
    assert found.librdkafka() == {**KERBEROS, "sasl.kerberos.service.name": "broker"}


def test_a_librdkafka_without_kerberos_is_refused_with_what_helps() -> None:
    with pytest.raises(SettingsError) as refused:
        KafkaCluster(client(KERBEROS))
    assert "connection kafka_default: " in str(refused.value)
    assert "No provider for SASL mechanism GSSAPI" in str(refused.value)
    assert "confluent-kafka with Kerberos must be built on the host" in str(refused.value)


def test_the_raw_logs_client_needs_a_package_for_kerberos() -> None:
    assert find_spec("gssapi") is None
    with pytest.raises(SettingsError, match="GSSAPI needs the package gssapi, for the raw log"):
        client(KERBEROS).aiokafka(2)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({**MSK, "aws.region": None}, "extra: aws.region is missing"),
        ({**MSK, "aws.region": "evil.example.com/"}, "aws.region: expected a region such as"),
        ({**MSK, "security.protocol": "SASL_PLAINTEXT"}, "with AWS_MSK_IAM; allowed: SASL_SSL"),
        ({"bootstrap.servers": "a:1", "aws.region": "eu-west-1"}, "with sasl settings; allowed"),
        ({**KERBEROS, "sasl.kerberos.keytab": None}, "sasl.kerberos.keytab is missing"),
        ({**KERBEROS, "sasl.kerberos.principal": ""}, "sasl.kerberos.principal is missing"),
        ({**KERBEROS, "sasl.kerberos.keytab": "relative"}, "keytab: expected the path of a keytab"),
        # librdkafka calls kinit by a shell, with these texts in its command.
        ({**KERBEROS, "sasl.kerberos.keytab": '/x";id;"'}, "keytab: expected the path of a keytab"),
        ({**KERBEROS, "sasl.kerberos.principal": "$(id)"}, "principal: expected a name such as"),
        ({**KERBEROS, "sasl.kerberos.service.name": "a b"}, "service.name: expected a name"),
        ({**KERBEROS, "sasl.kerberos.kinit.cmd": "id"}, "sasl.kerberos.kinit.cmd not allowed"),
    ],
    ids=lambda value: str(value)[-50:],
)
def test_what_is_missing_or_has_another_form_is_refused_by_key(
    extra: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        client(extra)
    assert message in str(refused.value)
