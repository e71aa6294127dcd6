"""A connection's extra becomes the configuration of both clients, without ever being printed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.broker.client_settings import ClientSettings
from sluice.broker.cluster import KafkaCluster
from sluice.errors import SettingsError

BROKER = {"bootstrap.servers": "broker:9092"}
LOGIN = {
    **BROKER,
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "alice",
    "sasl.password": "hunter2",
}
TLS = {
    "security.protocol": "SSL",
    "ssl.ca.pem": "CA",
    "ssl.certificate.pem": "CERT",
    "ssl.key.pem": "KEY",
    "ssl.key.password": "hunter2",
}


def client(extra: dict[str, Any]) -> ClientSettings:
    return ClientSettings.from_extra("kafka_default", extra)


def test_a_plain_connection_is_the_same_for_both_clients() -> None:
    assert client(BROKER).librdkafka() == client(BROKER).java() == BROKER
    assert client(BROKER).bootstrap == "broker:9092"


def test_names_are_translated_for_java() -> None:
    extra = {**BROKER, "client.id": "sluice", "socket.timeout.ms": 5000}
    assert client(extra).librdkafka() == {**extra, "socket.timeout.ms": "5000"}
    assert client(extra).java() == {
        **BROKER,
        "client.id": "sluice",
        "request.timeout.ms": "5000",
    }


def test_certificates_are_pem_for_java() -> None:
    assert client({**BROKER, **TLS}).java() == {
        **BROKER,
        "security.protocol": "SSL",
        "ssl.truststore.certificates": "CA",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.certificate.chain": "CERT",
        "ssl.keystore.key": "KEY",
        "ssl.keystore.type": "PEM",
        "ssl.key.password": "hunter2",
    }
    located = client({**BROKER, "ssl.ca.location": "/etc/ca.pem"}).java()
    assert located["ssl.truststore.location"] == "/etc/ca.pem"
    assert located["ssl.truststore.type"] == "PEM"


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        ("PLAIN", "org.apache.kafka.common.security.plain.PlainLoginModule"),
        ("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule"),
        ("SCRAM-SHA-512", "org.apache.kafka.common.security.scram.ScramLoginModule"),
    ],
)
@pytest.mark.parametrize("key", ["sasl.mechanism", "sasl.mechanisms"])
def test_a_login_is_written_as_javas_jaas(key: str, mechanism: str, module: str) -> None:
    login = {name: value for name, value in LOGIN.items() if name != "sasl.mechanism"}
    found = client({**login, key: mechanism}).java()
    assert found == {
        **BROKER,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="alice" password="hunter2";',
    }


@pytest.mark.parametrize("mechanism", ["plain", "Scram-Sha-256"])
def test_a_mechanism_in_small_letters_is_written_as_java_knows_it(mechanism: str) -> None:
    assert client({**LOGIN, "sasl.mechanism": mechanism}).java()["sasl.mechanism"] == (
        mechanism.upper()
    )


def test_a_host_name_check_that_is_off_is_off_for_java_too() -> None:
    """librdkafka says `none`; Java wants the empty text and takes `none` for an algorithm."""
    extra = {**BROKER, **TLS, "ssl.endpoint.identification.algorithm": "none"}
    assert client(extra).java()["ssl.endpoint.identification.algorithm"] == ""


@given(st.text(st.sampled_from('ab"\\; =\t'), min_size=1))
def test_a_password_cannot_leave_its_quotes(password: str) -> None:
    jaas = client({**LOGIN, "sasl.password": password}).java()["sasl.jaas.config"]
    quoted = jaas.partition('password="')[2].removesuffix('";')
    assert quoted.replace('\\"', "\0").replace("\\\\", "\1").count('"') == 0
    unescaped, rest = "", iter(quoted)
    for each in rest:
        unescaped += next(rest) if each == "\\" else each
    assert unescaped == password


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({}, "bootstrap.servers is missing"),
        ({"bootstrap.servers": ""}, "bootstrap.servers is missing"),
        ({**BROKER, "group.id": "hunter2"}, "group.id not allowed. Allowed: bootstrap.servers, "),
        ({**BROKER, "b": 1, "a": 2}, "a, b not allowed"),
        ({**LOGIN, "sasl.mechanism": "GSSAPI"}, "sasl.mechanism: found 'GSSAPI'; allowed: PLAIN"),
        ({**BROKER, "security.protocol": "sasl_ssl"}, "sasl.mechanism: found 'nothing'"),
        ({**LOGIN, "sasl.username": ""}, "sasl.username is missing"),
        ({k: v for k, v in LOGIN.items() if k != "sasl.password"}, "sasl.password is missing"),
        ({**LOGIN, "sasl.password": None}, "sasl.password is missing"),
        ({**BROKER, "security.protocol": "TLS"}, "expected one of PLAINTEXT, SSL, SASL_PLAINTEXT"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_client_configuration_is_refused(extra: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        client(extra)
    assert str(refused.value).startswith("connection kafka_default: ")
    assert message in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "extra",
    [
        {"sasl.username": "alice"},
        {"sasl.username": "alice", "sasl.password": "hunter2"},
        {"sasl.username": "alice", "sasl.mechanism": "GSSAPI"},
        {"security.protocol": "SSL", "sasl.username": "alice", "sasl.mechanism": "PLAIN"},
    ],
    ids=str,
)
def test_what_is_accepted_can_be_written_for_both_clients(extra: dict[str, str]) -> None:
    try:
        accepted = client({**BROKER, **extra})
    except SettingsError:
        return
    accepted.librdkafka()
    accepted.java()


def test_a_client_prints_no_secret() -> None:
    assert "hunter2" not in f"{client(LOGIN)!r} {client(LOGIN)}"


def test_a_changed_configuration_does_not_change_the_client() -> None:
    found = client(LOGIN)
    found.librdkafka()["sasl.password"] = "other"
    assert found.librdkafka()["sasl.password"] == "hunter2"


def test_a_mistyped_key_is_refused_although_it_is_null() -> None:
    with pytest.raises(SettingsError, match=r"sasl\.pasword not allowed"):
        client({**BROKER, "sasl.pasword": None})


def test_what_librdkafka_refuses_names_the_connection() -> None:
    settings = client({**BROKER, "security.protocol": "SSL", "ssl.ca.location": "/no/such/file"})
    with pytest.raises(SettingsError, match=r"connection kafka_default: .*ssl\.ca\.location"):
        KafkaCluster(settings)
