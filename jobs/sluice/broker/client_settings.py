"""Client settings: one allow-list in librdkafka's names, translated for three Kafka clients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

from sluice.broker.java_settings import java_settings
from sluice.broker.logins import KERBEROS, KERBEROS_SERVICE, MSK_IAM, OAUTH, fault_of_login
from sluice.errors import SettingsError
from sluice.tls import require_in_date, tls_context

# The keys a connection may have, in librdkafka's names (its CONFIGURATION.md), and `aws.region`,
# which it does not know. Each of them means the same to all three clients, or to the one that has
# such a thing (docs/security.md).
_KEYS = (
    "bootstrap.servers",
    "client.id",
    "client.rack",
    "security.protocol",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.username",
    "sasl.password",
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.extensions",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.kerberos.service.name",
    "sasl.kerberos.principal",
    "sasl.kerberos.keytab",
    "aws.region",
    "https.ca.location",
    "https.ca.pem",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "socket.timeout.ms",
)
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# Java refuses one without a port; aiokafka takes a protocol before it for a part of the name.
_ADDRESS = re.compile(r"([^\s:/\[\]]+|\[[^\s/\[\]]+\]):\d+")
# What librdkafka gets in another form: it logs in to AWS with a token of ours.
_NOT_OF_LIBRDKAFKA = ("aws.region", "sasl.mechanism", "sasl.mechanisms")
# The limit of a single request, so that a leader is asked again before the whole time is over.
_REQUEST_SECONDS = 10.0


class RightMissing(SettingsError):
    """The connection's user may not do what is needed; names the right."""


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
                if value is not None or key not in _KEYS
            },
        )

    def __post_init__(self) -> None:
        unknown = sorted(set(self.settings) - set(_KEYS))
        if unknown:
            raise self._refused(
                f"extra: {', '.join(unknown)} not allowed. Allowed: {', '.join(_KEYS)}"
            )
        if not self.settings.get("bootstrap.servers"):
            raise self._refused("extra: bootstrap.servers is missing")
        for each in map(str.strip, self.bootstrap.split(",")):
            if not _ADDRESS.fullmatch(each):
                raise self._refused(
                    f"bootstrap.servers: expected host:port, comma-separated, found {each!r}."
                    " An IPv6 address is written [::1]:9092"
                )
        if self._protocol not in _PROTOCOLS:
            raise self._refused(
                f"security.protocol: expected one of {', '.join(_PROTOCOLS)},"
                f" found {self._protocol!r}"
            )
        if self._has("ssl.certificate") != self._has("ssl.key"):
            raise self._refused(
                "extra: expected ssl.certificate.pem (or .location) and ssl.key.pem (or .location)"
                " together, found one of them"
            )
        if any(_of_a_login(text) for text in (*self.settings, self._protocol)) and (
            fault := fault_of_login(self.settings, self._protocol, self._mechanism)
        ):
            raise self._refused(fault)

    @property
    def signs_with_aws(self) -> bool:
        """Whether Spark's Java client logs in with AWS' SDK: it is among the jars of S3."""
        return self._mechanism == MSK_IAM

    @property
    def bootstrap(self) -> str:
        """The bootstrap address, for messages."""
        return self.settings["bootstrap.servers"]

    def unusable(self, problem: str) -> SettingsError:
        """The refusal of the settings by librdkafka itself."""
        if self._mechanism == KERBEROS:
            return self._refused(
                f"{problem}. A confluent-kafka with Kerberos must be built on the host of the task;"
                " docs/security.md says how, and what to use instead."
            )
        return self._refused(f"{problem}. Correct its extra.")

    def lacking(self, needs: str) -> RightMissing:
        """The refusal of a user without a right, such as READ on topic orders."""
        return RightMissing(
            f"broker {self.bootstrap}: the user of connection {self.connection} needs {needs}."
            " Nothing was changed; docs/security.md lists all rights."
        )

    def unwelcome(self, why: str) -> SettingsError:
        """The refusal of a login or of a certificate, by whichever side."""
        return SettingsError(
            f"broker {self.bootstrap}: connection {self.connection} is refused: {why}. Nothing was"
            " changed; correct its login or certificates."
        )

    def librdkafka(self) -> dict[str, Any]:
        """The configuration of a confluent_kafka client.

        Like the other two, raises SettingsError for a client certificate that has expired; and for
        a token that cannot be signed.
        """
        self._require_in_date()
        if self._mechanism != MSK_IAM:
            return dict(self.settings)
        # It loads AWS' library, which few connections need.
        from sluice.broker.msk_token import signed_token, token_callback

        region = self.settings["aws.region"]
        try:
            # librdkafka keeps what its callback raises to itself.
            signed_token(region)
        except SettingsError as problem:
            raise self._refused(str(problem)) from None
        its_own = {k: v for k, v in self.settings.items() if k not in _NOT_OF_LIBRDKAFKA}
        return {**its_own, "sasl.mechanism": OAUTH, "oauth_cb": token_callback(region)}

    def java(self) -> dict[str, str]:
        """The configuration of a Java client, such as the one in Spark's Kafka source.

        Raises SettingsError for a certificate or a key that it cannot use.
        """
        self._require_in_date()
        return java_settings(self.settings, self._mechanism)

    def aiokafka(self, timeout: float) -> dict[str, Any]:
        """The arguments of an aiokafka client; one request waits `timeout` seconds, at most 10.

        Settings that only tune librdkafka are left out. Raises SettingsError for an unusable
        certificate.
        """
        self._require_in_date()
        arguments: dict[str, Any] = {
            "bootstrap_servers": self.bootstrap,
            "client_id": self.settings.get("client.id", "sluice"),
            "security_protocol": self._protocol,
            "request_timeout_ms": int(min(timeout, _REQUEST_SECONDS) * 1000),
        }
        if self._protocol.endswith("SSL"):
            arguments["ssl_context"] = tls_context(self.settings)
        return arguments | self._login_of_aiokafka()

    def _login_of_aiokafka(self) -> dict[str, Any]:
        # Its token providers load aiokafka, which few commands need.
        if self._mechanism == OAUTH:
            from sluice.broker.token_endpoint import TokenEndpoint

            provider: object = TokenEndpoint(self.settings)
            return {"sasl_mechanism": OAUTH, "sasl_oauth_token_provider": provider}
        if self._mechanism == MSK_IAM:
            from sluice.broker.msk_token import MskToken

            provider = MskToken(self.settings["aws.region"])
            return {"sasl_mechanism": OAUTH, "sasl_oauth_token_provider": provider}
        if self._mechanism == KERBEROS:
            if find_spec("gssapi") is None:
                raise self._refused(
                    "sasl.mechanism: GSSAPI needs the package gssapi, for the raw log, found none."
                    " Install it where the task runs: docs/security.md"
                )
            service = self.settings.get("sasl.kerberos.service.name", KERBEROS_SERVICE)
            return {"sasl_mechanism": KERBEROS, "sasl_kerberos_service_name": service}
        if self._mechanism:
            return {
                "sasl_mechanism": self._mechanism,
                "sasl_plain_username": self.settings["sasl.username"],
                "sasl_plain_password": self.settings["sasl.password"],
            }
        return {}

    def _has(self, of: str) -> bool:
        return f"{of}.pem" in self.settings or f"{of}.location" in self.settings

    @property
    def _mechanism(self) -> str:
        either = self.settings.get("sasl.mechanism") or self.settings.get("sasl.mechanisms")
        return (either or "").upper()

    @property
    def _protocol(self) -> str:
        return self.settings.get("security.protocol", "PLAINTEXT").upper()

    def _require_in_date(self) -> None:
        try:
            require_in_date(self.settings, datetime.now(UTC))
        except SettingsError as problem:
            raise self._refused(str(problem)) from None

    def _refused(self, why: str) -> SettingsError:
        return SettingsError(f"connection {self.connection}: {why}")


def _of_a_login(text: str) -> bool:
    return "sasl" in text.lower() or text == "aws.region"
