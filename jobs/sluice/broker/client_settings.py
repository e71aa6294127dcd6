"""The Kafka client's configuration: allow-listed keys, in each client's own names."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice.errors import SettingsError

# librdkafka's names; the Java client's where they differ (None: not needed there).
_JAVA_NAMES: Mapping[str, str | None] = {
    "bootstrap.servers": "bootstrap.servers",
    "client.id": "client.id",
    "client.rack": "client.rack",
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.username": None,
    "sasl.password": None,
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
    "ssl.key.password": "ssl.key.password",
    "ssl.endpoint.identification.algorithm": "ssl.endpoint.identification.algorithm",
    "socket.timeout.ms": "request.timeout.ms",
}
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


@dataclass(frozen=True)
class ClientSettings:
    """How to reach a cluster. Its values may be secrets: it prints its address only."""

    settings: Mapping[str, str] = field(repr=False)

    @classmethod
    def from_extra(cls, connection: str, extra: Mapping[str, Any]) -> ClientSettings:
        """Check the `extra` of a connection. Raises SettingsError; no error repeats a value."""
        unknown = sorted(set(extra) - set(_JAVA_NAMES))
        if unknown:
            raise SettingsError(
                f"connection {connection}: extra: {', '.join(unknown)} not allowed."
                f" Allowed: {', '.join(_JAVA_NAMES)}"
            )
        if not extra.get("bootstrap.servers"):
            raise SettingsError(f"connection {connection}: extra: bootstrap.servers is missing")
        client = cls({key: str(value) for key, value in extra.items()})
        if any("sasl" in text.lower() for text in (*extra, client._protocol)):
            client._check_login(connection)
        return client

    @property
    def bootstrap(self) -> str:
        """The address, for messages."""
        return self.settings["bootstrap.servers"]

    def librdkafka(self) -> dict[str, Any]:
        """The configuration of a confluent_kafka client."""
        return dict(self.settings)

    def java(self) -> dict[str, str]:
        """The configuration of a Java client, such as Spark's Kafka source has."""
        named = {_JAVA_NAMES[key]: value for key, value in self.settings.items()}
        java = {name: value for name, value in named.items() if name}
        if self._mechanism:
            java |= {"sasl.mechanism": self._mechanism, "sasl.jaas.config": self._jaas()}
        if java.get("ssl.endpoint.identification.algorithm") == "none":
            java["ssl.endpoint.identification.algorithm"] = ""
        if "ssl.truststore.location" in java or "ssl.truststore.certificates" in java:
            java["ssl.truststore.type"] = "PEM"
        if "ssl.keystore.key" in java:
            java["ssl.keystore.type"] = "PEM"
        return java

    @property
    def _mechanism(self) -> str:
        either = self.settings.get("sasl.mechanism") or self.settings.get("sasl.mechanisms")
        return (either or "").upper()

    @property
    def _protocol(self) -> str:
        return self.settings.get("security.protocol", "").upper()

    def _check_login(self, connection: str) -> None:
        if "SASL" not in self._protocol:
            raise SettingsError(
                f"connection {connection}: security.protocol: found {self._protocol or 'nothing'!r}"
                " with sasl settings; allowed: SASL_PLAINTEXT, SASL_SSL"
            )
        if self._mechanism not in _LOGIN_MODULES:
            raise SettingsError(
                f"connection {connection}: sasl.mechanism: found {self._mechanism or 'nothing'!r};"
                f" allowed: {', '.join(_LOGIN_MODULES)}"
            )
        for key in ("sasl.username", "sasl.password"):
            if not self.settings.get(key):
                raise SettingsError(f"connection {connection}: extra: {key} is missing")

    def _jaas(self) -> str:
        def quoted(key: str) -> str:
            text = self.settings[key].replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'

        user, password = quoted("sasl.username"), quoted("sasl.password")
        module = _LOGIN_MODULES[self._mechanism]
        return f"{module} required username={user} password={password};"


_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_UNDERSTOOD = {
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.username",
    "sasl.password",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
}
_REQUEST_SECONDS = 10.0


def client_arguments(client_extra: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    """aiokafka's arguments for a connection's client configuration.

    Keys that only tune librdkafka are left out. Raises SettingsError for a missing address, and
    for keys of security that have no counterpart: without them another client would connect.
    """
    extra = {key: str(value) for key, value in client_extra.items() if value is not None}
    _refuse_unknown(extra)
    address = extra.get("bootstrap.servers") or extra.get("metadata.broker.list")
    if not address:
        raise SettingsError("bootstrap.servers: expected host:port,…, found nothing")
    protocol = extra.get("security.protocol", "PLAINTEXT").upper()
    _require("security.protocol", protocol, _PROTOCOLS)
    arguments: dict[str, Any] = {
        "bootstrap_servers": address,
        "client_id": extra.get("client.id", "sluice"),
        "security_protocol": protocol,
        "request_timeout_ms": int(min(timeout, _REQUEST_SECONDS) * 1000),
    }
    if protocol.endswith("SSL"):
        arguments["ssl_context"] = _ssl_context(extra)
    if protocol.startswith("SASL"):
        arguments |= _sasl_arguments(extra)
    return arguments


def _refuse_unknown(extra: Mapping[str, str]) -> None:
    secured = {key for key in extra if key.startswith(("ssl.", "sasl."))}
    if unknown := sorted(secured - _UNDERSTOOD):
        raise SettingsError(
            f"{', '.join(unknown)}: not usable for reading the raw log, which explains gaps;"
            f" expected only: {', '.join(sorted(_UNDERSTOOD))}"
        )


def _require(key: str, found: str, allowed: tuple[str, ...]) -> None:
    if found not in allowed:
        raise SettingsError(f"{key}: expected one of {', '.join(allowed)}, found {found!r}")


def _sasl_arguments(extra: Mapping[str, str]) -> dict[str, str]:
    mechanism = extra.get("sasl.mechanism") or extra.get("sasl.mechanisms") or "GSSAPI"
    _require("sasl.mechanism", mechanism.upper(), _MECHANISMS)
    for key in ("sasl.username", "sasl.password"):
        if key not in extra:
            raise SettingsError(f"{key}: expected with sasl.mechanism {mechanism}, found nothing")
    return {
        "sasl_mechanism": mechanism.upper(),
        "sasl_plain_username": extra["sasl.username"],
        "sasl_plain_password": extra["sasl.password"],
    }


def _ssl_context(extra: Mapping[str, str]) -> ssl.SSLContext:
    place = extra.get("ssl.ca.location")
    folder = place is not None and Path(place).is_dir()
    try:
        context = ssl.create_default_context(
            cafile=None if folder else place,
            capath=place if folder else None,
            cadata=extra.get("ssl.ca.pem"),
        )
        _load_certificate(context, extra)
    except (OSError, ValueError) as error:
        raise SettingsError(f"ssl.*.location, ssl.*.pem: not usable: {error}") from error
    verified = extra.get("enable.ssl.certificate.verification", "true").lower() != "false"
    if not verified or extra.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    if not verified:
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_certificate(context: ssl.SSLContext, extra: Mapping[str, str]) -> None:
    password = extra.get("ssl.key.password")
    if certificate := extra.get("ssl.certificate.location"):
        context.load_cert_chain(certificate, extra.get("ssl.key.location"), password)
    elif "ssl.certificate.pem" in extra and "ssl.key.pem" in extra:
        with _path_to(extra["ssl.certificate.pem"]) as chain, _path_to(extra["ssl.key.pem"]) as key:
            context.load_cert_chain(chain, key, password)


@contextmanager
def _path_to(text: str) -> Iterator[str]:
    """A path that gives the text once: a private key must not lie on a disk."""
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        if os.write(writer, text.encode()) < len(text.encode()):
            raise ValueError(f"{len(text)} characters are too many for a certificate or a key")
    finally:
        os.close(writer)
    try:
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)
