"""A connection's extra becomes the configuration of both clients, without ever being printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
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
KEY = ec.generate_private_key(ec.SECP256R1())


def written(form: PrivateFormat, password: str | None = None) -> str:
    """The private key in PEM."""
    lock = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return KEY.private_bytes(Encoding.PEM, form, lock).decode()


TLS = {
    "security.protocol": "SSL",
    "ssl.ca.pem": "CA",
    "ssl.certificate.pem": "CERT",
    "ssl.key.pem": written(PrivateFormat.PKCS8, "hunter2"),
    "ssl.key.password": "hunter2",
}
OAUTH = {
    **BROKER,
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "alice",
    "sasl.oauthbearer.client.secret": "hunter2",
    "sasl.oauthbearer.token.endpoint.url": "https://login/token",
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
        "ssl.keystore.key": written(PrivateFormat.PKCS8),
        "ssl.keystore.type": "PEM",
    }


def test_a_file_is_read_where_the_task_runs(tmp_path: Path) -> None:
    """An executor has no such file."""
    inline = {key: text for key, text in TLS.items() if key.endswith("pem")}
    located = {key.replace("pem", "location"): str(tmp_path / key) for key in inline}
    for key, text in inline.items():
        (tmp_path / key).write_text(text)
    located["ssl.key.password"] = inline["ssl.key.password"] = "hunter2"
    assert client({**BROKER, **located}).java() == client({**BROKER, **inline}).java()


@pytest.mark.parametrize("key", ["ssl.ca.location", "ssl.key.location"])
def test_a_file_that_is_not_there_is_named(key: str, tmp_path: Path) -> None:
    place = tmp_path / "none.pem"
    extra = {**BROKER, "ssl.certificate.pem": "CERT", "ssl.key.pem": "KEY", key: str(place)}
    extra.pop(key.replace("location", "pem"), None)
    with pytest.raises(SettingsError) as refused:
        client(extra).java()
    assert str(refused.value) == (
        f"{key}: expected a PEM file, found {place}: No such file or directory. Put the file where"
        f" the task runs, or its text into {key.replace('location', 'pem')}."
    )


def test_a_key_in_another_form_becomes_one_that_java_can_read() -> None:
    old = {**TLS, "ssl.key.pem": written(PrivateFormat.TraditionalOpenSSL)}
    found = client({**BROKER, **old, "ssl.key.password": None})
    assert found.java()["ssl.keystore.key"] == written(PrivateFormat.PKCS8)


@pytest.mark.parametrize("change", [{"ssl.key.password": "other"}, {"ssl.key.pem": "hunter2"}])
def test_a_key_that_stays_locked_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"ssl\.key\.password") as refused:
        client({**BROKER, **TLS, **change}).java()
    assert "hunter2" not in str(refused.value)


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


def test_a_token_login_is_written_as_javas_jaas() -> None:
    more = {"sasl.oauthbearer.scope": "kafka", "sasl.oauthbearer.extensions": "pool=a, cluster=b"}
    found = client({**OAUTH, **more, "https.ca.pem": "A\nB"}).java()
    assert found == {
        **BROKER,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": "sluice.TokenLogin",
        "sasl.oauthbearer.token.endpoint.url": "https://login/token",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
            ' clientId="alice" clientSecret="hunter2" scope="kafka" extension_pool="a"'
            ' extension_cluster="b" ssl.truststore.type="PEM"'
            ' ssl.truststore.certificates="A\\nB";'
        ),
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


@pytest.mark.parametrize("address", ["a:1", "a.b-c_d:65535, 10.0.0.1:9092", "[::1]:9092"])
def test_an_address_that_all_three_clients_read_in_the_same_way_is_accepted(address: str) -> None:
    assert client({"bootstrap.servers": address}).bootstrap == address


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({}, "bootstrap.servers is missing"),
        ({"bootstrap.servers": ""}, "bootstrap.servers is missing"),
        ({**BROKER, "group.id": "hunter2"}, "group.id not allowed. Allowed: bootstrap.servers, "),
        ({**BROKER, "b": 1, "a": 2}, "a, b not allowed"),
        ({**LOGIN, "sasl.mechanism": "NTLM"}, "sasl.mechanism: found 'NTLM'; allowed: PLAIN"),
        ({**BROKER, "security.protocol": "sasl_ssl"}, "sasl.mechanism: found 'nothing'"),
        ({**LOGIN, "sasl.username": ""}, "sasl.username is missing"),
        ({k: v for k, v in LOGIN.items() if k != "sasl.password"}, "sasl.password is missing"),
        ({**LOGIN, "sasl.password": None}, "sasl.password is missing"),
        (
            {**BROKER, "ssl.certificate.pem": "CERT", "ssl.key.password": "hunter2"},
            "ssl.key.pem (or .location) together, found one of them",
        ),
        ({**OAUTH, "sasl.oauthbearer.method": None}, "method: expected 'oidc', found None"),
        ({**OAUTH, "sasl.oauthbearer.client.secret": ""}, "client.secret is missing"),
        ({**BROKER, "security.protocol": "TLS"}, "expected one of PLAINTEXT, SSL, SASL_PLAINTEXT"),
        ({"bootstrap.servers": "broker"}, "servers: expected host:port, comma-separated"),
        ({"bootstrap.servers": "a:9092, b"}, "comma-separated, found 'b'"),
        ({"bootstrap.servers": "a:9092,"}, "comma-separated, found ''"),
        ({"bootstrap.servers": "SSL://a:9092"}, "comma-separated, found 'SSL://a:9092'"),
        ({"bootstrap.servers": "::1:9092"}, "An IPv6 address is written [::1]:9092"),
        ({"bootstrap.servers": "a:9092x"}, "comma-separated, found 'a:9092x'"),
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
