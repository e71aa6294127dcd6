"""The Kafka client's configuration: allow-listed keys, in each client's own names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
class KafkaClient:
    """How to reach a cluster. Its values may be secrets: it prints its address only."""

    settings: Mapping[str, str] = field(repr=False)

    @classmethod
    def from_extra(cls, connection: str, extra: Mapping[str, Any]) -> KafkaClient:
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
