"""Client settings: one allow-list in librdkafka's names, translated for three Kafka clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sluice.broker.tls_context import tls_context
from sluice.errors import SettingsError

# The keys a connection may have, in librdkafka's names (its CONFIGURATION.md), each with its name
# in the Java client (Kafka's documentation, "Consumer Configs"). None: it goes into the JAAS line.
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
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# The limit of a single request, so that a leader is asked again before the whole time is over.
_REQUEST_SECONDS = 10.0


@dataclass(frozen=True)
class ClientSettings:
    """How to reach a cluster. Validated on creation; values may be secrets and are never printed.

    Raises SettingsError, which names the connection and the key but repeats no secret.
    """

    connection: str
    settings: Mapping[str, str] = field(repr=False)

    @classmethod
    def from_extra(cls, connection: str, extra: Mapping[str, Any]) -> ClientSettings:
        """The settings in the `extra` of a connection; null counts as missing."""
        return cls(
            connection,
            {
                key: str(value)
                for key, value in extra.items()
                if value is not None or key not in _JAVA_NAMES
            },
        )

    def __post_init__(self) -> None:
        unknown = sorted(set(self.settings) - set(_JAVA_NAMES))
        if unknown:
            raise self._refused(
                f"extra: {', '.join(unknown)} not allowed. Allowed: {', '.join(_JAVA_NAMES)}"
            )
        if not self.settings.get("bootstrap.servers"):
            raise self._refused("extra: bootstrap.servers is missing")
        if self._protocol not in _PROTOCOLS:
            raise self._refused(
                f"security.protocol: expected one of {', '.join(_PROTOCOLS)},"
                f" found {self._protocol!r}"
            )
        if any("sasl" in text.lower() for text in (*self.settings, self._protocol)):
            self._check_login()

    @property
    def bootstrap(self) -> str:
        """The bootstrap address, for messages."""
        return self.settings["bootstrap.servers"]

    def librdkafka(self) -> dict[str, Any]:
        """The configuration of a confluent_kafka client."""
        return dict(self.settings)

    def java(self) -> dict[str, str]:
        """The configuration of a Java client, such as the one in Spark's Kafka source."""
        named = {_JAVA_NAMES[key]: value for key, value in self.settings.items()}
        java = {name: value for name, value in named.items() if name}
        if self._mechanism:
            java |= {"sasl.mechanism": self._mechanism, "sasl.jaas.config": self._jaas()}
        # librdkafka has none; Java an empty text (Kafka's documentation, Host Name Verification).
        if java.get("ssl.endpoint.identification.algorithm") == "none":
            java["ssl.endpoint.identification.algorithm"] = ""
        # Java reads PEM since Kafka 2.7 (KIP-651).
        if "ssl.truststore.location" in java or "ssl.truststore.certificates" in java:
            java["ssl.truststore.type"] = "PEM"
        if "ssl.keystore.key" in java:
            java["ssl.keystore.type"] = "PEM"
        return java

    def aiokafka(self, timeout: float) -> dict[str, Any]:
        """The arguments of an aiokafka client; one request waits `timeout` seconds, at most 10.

        Settings that only tune librdkafka are left out. Raises SettingsError for an unusable
        certificate.
        """
        arguments: dict[str, Any] = {
            "bootstrap_servers": self.bootstrap,
            "client_id": self.settings.get("client.id", "sluice"),
            "security_protocol": self._protocol,
            "request_timeout_ms": int(min(timeout, _REQUEST_SECONDS) * 1000),
        }
        if self._protocol.endswith("SSL"):
            arguments["ssl_context"] = tls_context(self.settings)
        if self._protocol.startswith("SASL"):
            arguments |= {
                "sasl_mechanism": self._mechanism,
                "sasl_plain_username": self.settings["sasl.username"],
                "sasl_plain_password": self.settings["sasl.password"],
            }
        return arguments

    @property
    def _mechanism(self) -> str:
        either = self.settings.get("sasl.mechanism") or self.settings.get("sasl.mechanisms")
        return (either or "").upper()

    @property
    def _protocol(self) -> str:
        return self.settings.get("security.protocol", "PLAINTEXT").upper()

    def _check_login(self) -> None:
        if "SASL" not in self._protocol:
            found = self._protocol if "security.protocol" in self.settings else "nothing"
            raise self._refused(
                f"security.protocol: found {found!r}"
                " with sasl settings; allowed: SASL_PLAINTEXT, SASL_SSL"
            )
        if self._mechanism not in _LOGIN_MODULES:
            raise self._refused(
                f"sasl.mechanism: found {self._mechanism or 'nothing'!r};"
                f" allowed: {', '.join(_LOGIN_MODULES)}"
            )
        for key in ("sasl.username", "sasl.password"):
            if not self.settings.get(key):
                raise self._refused(f"extra: {key} is missing")

    def _jaas(self) -> str:
        def quoted(key: str) -> str:
            text = self.settings[key].replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'

        user, password = quoted("sasl.username"), quoted("sasl.password")
        module = _LOGIN_MODULES[self._mechanism]
        return f"{module} required username={user} password={password};"

    def _refused(self, why: str) -> SettingsError:
        return SettingsError(f"connection {self.connection}: {why}")
