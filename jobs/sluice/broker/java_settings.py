"""Java settings: a connection, in librdkafka's names, as the JVM's Kafka client takes it.

Files are read here, and their texts handed on: an executor needs no file of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sluice.broker.logins import KERBEROS, KERBEROS_SERVICE, MSK_IAM, OAUTH
from sluice.tls import pem_text, unlocked

# Each key in librdkafka's names (its CONFIGURATION.md) with its name in the Java client (Kafka's
# documentation, "Consumer Configs"). What is not here goes into the JAAS line, or is a certificate.
_NAMES = {
    "bootstrap.servers": "bootstrap.servers",
    "client.id": "client.id",
    "client.rack": "client.rack",
    "security.protocol": "security.protocol",
    "sasl.oauthbearer.token.endpoint.url": "sasl.oauthbearer.token.endpoint.url",
    "sasl.kerberos.service.name": "sasl.kerberos.service.name",
    "ssl.endpoint.identification.algorithm": "ssl.endpoint.identification.algorithm",
    "socket.timeout.ms": "request.timeout.ms",
}
# Java reads PEM since Kafka 2.7 (KIP-651).
_CERTIFICATES = {
    "ssl.ca": ("ssl.truststore.certificates", "ssl.truststore.type"),
    "ssl.certificate": ("ssl.keystore.certificate.chain", "ssl.keystore.type"),
}
_MODULES = "org.apache.kafka.common.security"
_LOGIN_MODULES = {
    "PLAIN": f"{_MODULES}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_MODULES}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_MODULES}.scram.ScramLoginModule",
    OAUTH: f"{_MODULES}.oauthbearer.OAuthBearerLoginModule",
    MSK_IAM: f"{_MODULES}.oauthbearer.OAuthBearerLoginModule",
    KERBEROS: "com.sun.security.auth.module.Krb5LoginModule",
}
_JAAS_NAMES = {
    "sasl.username": "username",
    "sasl.password": "password",
    "sasl.oauthbearer.client.id": "clientId",
    "sasl.oauthbearer.client.secret": "clientSecret",
    "sasl.oauthbearer.scope": "scope",
    "sasl.kerberos.principal": "principal",
    "sasl.kerberos.keytab": "keyTab",
    "aws.region": "region",
}
# What fetches or signs the tokens (jobs/jvm).
_HANDLERS = {OAUTH: "sluice.TokenLogin", MSK_IAM: "sluice.MskLogin"}


def java_settings(settings: Mapping[str, str], mechanism: str) -> dict[str, str]:
    """The configuration of a Java client. Raises SettingsError for an unusable certificate."""
    java = {_NAMES[key]: value for key, value in settings.items() if key in _NAMES}
    if mechanism:
        on_the_wire = OAUTH if mechanism == MSK_IAM else mechanism
        java |= {"sasl.mechanism": on_the_wire, "sasl.jaas.config": _jaas(settings, mechanism)}
    if mechanism in _HANDLERS:
        java["sasl.login.callback.handler.class"] = _HANDLERS[mechanism]
    if mechanism == KERBEROS:
        # librdkafka has this default; Java has none.
        java.setdefault("sasl.kerberos.service.name", KERBEROS_SERVICE)
    # librdkafka has none; Java an empty text (Kafka's documentation, Host Name Verification).
    if java.get("ssl.endpoint.identification.algorithm") == "none":
        java["ssl.endpoint.identification.algorithm"] = ""
    return java | dict(_certificates(settings))


def _certificates(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for of, (name, kind) in _CERTIFICATES.items():
        if text := pem_text(settings, of):
            yield from ((name, text), (kind, "PEM"))
    if key := pem_text(settings, "ssl.key"):
        yield "ssl.keystore.key", unlocked(key, settings.get("ssl.key.password"))


def _jaas(settings: Mapping[str, str], mechanism: str) -> str:
    options = {name: settings[key] for key, name in _JAAS_NAMES.items() if key in settings}
    options |= {f"extension_{name}": value for name, value in extensions(settings).items()}
    if mechanism == KERBEROS:
        options |= {"useKeyTab": "true", "storeKey": "true"}
    if mechanism == OAUTH and (authorities := pem_text(settings, "https.ca")):
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authorities}
    words = (f"{name}={_quoted(value)}" for name, value in options.items())
    return f"{_LOGIN_MODULES[mechanism]} required {' '.join(words)};"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def extensions(settings: Mapping[str, str]) -> dict[str, str]:
    """The SASL extensions (KIP-342) in `sasl.oauthbearer.extensions`: `name=value,name=value`."""
    pairs = settings.get("sasl.oauthbearer.extensions", "").split(",")
    return {
        name: value for name, _, value in (each.strip().partition("=") for each in pairs if each)
    }
