"""Logins: the SASL mechanisms that a connection may name, each with its keys and their forms."""

from __future__ import annotations

import re
from collections.abc import Mapping

OAUTH, KERBEROS = "OAUTHBEARER", "GSSAPI"
# Amazon MSK by IAM. On the wire it is OAUTHBEARER, with a token that each client signs.
MSK_IAM = "AWS_MSK_IAM"
# What Kafka's brokers are called in Kerberos, unless the connection says it.
KERBEROS_SERVICE = "kafka"

_PASSWORD = ("sasl.username", "sasl.password")
# Each mechanism with the keys that it needs.
_NEEDED = {
    "PLAIN": _PASSWORD,
    "SCRAM-SHA-256": _PASSWORD,
    "SCRAM-SHA-512": _PASSWORD,
    OAUTH: (
        "sasl.oauthbearer.client.id",
        "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.token.endpoint.url",
    ),
    MSK_IAM: ("aws.region",),
    KERBEROS: ("sasl.kerberos.principal", "sasl.kerberos.keytab"),
}
# librdkafka puts those of Kerberos into a shell's command (its `sasl.kerberos.kinit.cmd`), and the
# region becomes part of a host's name.
_FORMS = {
    "aws.region": (r"[a-z]{2}[a-z0-9-]{1,30}", "a region such as eu-central-1"),
    "sasl.kerberos.service.name": (r"[A-Za-z0-9._-]+", "a name such as kafka"),
    "sasl.kerberos.principal": (r"[A-Za-z0-9._/@-]+", "a name such as sluice/host@REALM"),
    "sasl.kerberos.keytab": (r"/[A-Za-z0-9._/@-]+", "the path of a keytab, from / on"),
}


def fault_of_login(settings: Mapping[str, str], protocol: str, mechanism: str) -> str | None:
    """What is wrong with the sasl settings, by key; None for a login that can be tried."""
    if "SASL" not in protocol:
        found = protocol if "security.protocol" in settings else "nothing"
        return (
            f"security.protocol: found {found!r}"
            " with sasl settings; allowed: SASL_PLAINTEXT, SASL_SSL"
        )
    if mechanism not in _NEEDED:
        return f"sasl.mechanism: found {mechanism or 'nothing'!r}; allowed: {', '.join(_NEEDED)}"
    for key in _NEEDED[mechanism]:
        if not settings.get(key):
            return f"extra: {key} is missing"
    for key, (form, expected) in _FORMS.items():
        if key in settings and not re.fullmatch(form, settings[key]):
            return f"{key}: expected {expected}, found {settings[key]!r}"
    if "aws.region" in settings and mechanism != MSK_IAM:
        return f"aws.region: found with sasl.mechanism {mechanism}; allowed: with {MSK_IAM}"
    if mechanism == MSK_IAM and protocol != "SASL_SSL":
        return f"security.protocol: found {protocol!r} with {MSK_IAM}; allowed: SASL_SSL"
    # librdkafka's default makes unsigned tokens, which are for development only.
    method = settings.get("sasl.oauthbearer.method")
    if mechanism == OAUTH and method != "oidc":
        return f"sasl.oauthbearer.method: expected 'oidc', found {method!r}"
    return None
