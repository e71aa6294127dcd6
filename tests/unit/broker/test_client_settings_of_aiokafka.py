"""A connection in librdkafka's names becomes aiokafka's arguments, or is refused by key."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sluice.broker.client_settings import ClientSettings
from sluice.errors import SettingsError

SASL = {
    "bootstrap.servers": "a:1,b:2",
    "security.protocol": "sasl_plaintext",
    "sasl.mechanisms": "scram-sha-512",
    "sasl.username": "reader",
    "sasl.password": "hunter2",
}


def client_arguments(extra: dict[str, Any], timeout: float) -> dict[str, Any]:
    return ClientSettings.from_extra("kafka_default", extra).aiokafka(timeout)


def test_an_address_is_enough() -> None:
    arguments = client_arguments({"bootstrap.servers": "a:1", "socket.timeout.ms": 60000}, 30)
    assert arguments == {
        "bootstrap_servers": "a:1",
        "client_id": "sluice",
        "security_protocol": "PLAINTEXT",
        "request_timeout_ms": 10_000,
    }


def test_names_and_passwords_are_handed_on() -> None:
    arguments = client_arguments(SASL, 2)
    assert arguments["security_protocol"] == "SASL_PLAINTEXT"
    assert arguments["sasl_mechanism"] == "SCRAM-SHA-512"
    assert arguments["sasl_plain_username"] == "reader"
    assert arguments["sasl_plain_password"] == "hunter2"


def test_tls_is_verified_unless_told_otherwise() -> None:
    tls = {"bootstrap.servers": "a:1", "security.protocol": "SSL"}
    context = client_arguments(tls, 2)["ssl_context"]
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    named = client_arguments(tls | {"ssl.endpoint.identification.algorithm": "none"}, 2)
    assert named["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    assert not named["ssl_context"].check_hostname
    with pytest.raises(SettingsError, match=r"enable\.ssl\.certificate\.verification not allowed"):
        client_arguments(tls | {"enable.ssl.certificate.verification": False}, 2)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"bootstrap.servers": None}, "bootstrap.servers"),
        ({"security.protocol": "TLS"}, "security.protocol: expected one of PLAINTEXT"),
        ({"sasl.mechanisms": "NTLM"}, "sasl.mechanism: found 'NTLM'; allowed: PLAIN"),
        ({"sasl.mechanisms": None}, "sasl.mechanism: found 'nothing'; allowed: PLAIN"),
        ({"sasl.password": None}, "sasl.password"),
        ({"ssl.keystore.location": "/store.p12"}, "ssl.keystore.location not allowed"),
    ],
)
def test_what_cannot_be_translated_is_refused_by_key(
    change: dict[str, str | None], named: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        client_arguments(SASL | change, 2)
    assert named in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_missing_certificate_is_refused(tmp_path: Path) -> None:
    tls = {"bootstrap.servers": "a:1", "security.protocol": "SSL"}
    with pytest.raises(SettingsError, match="No such file"):
        client_arguments(tls | {"ssl.ca.location": str(tmp_path / "none.pem")}, 2)


def certified(password: str) -> dict[str, str]:
    """A certificate of our own and its key, as a connection holds them."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "reader")])
    building = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    dated = building.not_valid_before(now).not_valid_after(now + timedelta(1))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    locked = serialization.BestAvailableEncryption(password.encode())
    return {
        "bootstrap.servers": "a:1",
        "security.protocol": "SSL",
        "ssl.certificate.pem": dated.sign(key, hashes.SHA256()).public_bytes(encoding).decode(),
        "ssl.key.pem": key.private_bytes(encoding, form, locked).decode(),
        "ssl.key.password": password,
    }


def test_a_certificate_may_stand_in_the_connection_itself() -> None:
    extra = certified("hunter2")
    assert client_arguments(extra, 2)["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    for change in ({"ssl.key.password": "other"}, {"ssl.key.pem": "no key"}):
        with pytest.raises(SettingsError, match=r"ssl\.\*\.pem: not usable") as refused:
            client_arguments(extra | change, 2)
        assert "hunter2" not in str(refused.value)
    with pytest.raises(SettingsError, match="too many for a certificate"):
        client_arguments(extra | {"ssl.key.pem": "k" * 1_000_000}, 2)
