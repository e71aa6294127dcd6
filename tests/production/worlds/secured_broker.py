"""A secured broker: logins over TLS, client certificates, and rights that are listed one by one.

The tests themselves use the listener without TLS, whose user may do everything.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from sluice.tls import unlocked

from local.embedded.broker import Broker
from local.embedded.ports import free_port
from tests.production.worlds.authority import Authority
from tests.production.worlds.token_server import TokenServer
from tests.worlds.pipelines import Installed
from tests.worlds.records import admin, end, numbered, produce, send, transactional

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "MTLS", "MTLS in files")
_SECURITY = "org.apache.kafka.common.security"
_TOKENS = f"{_SECURITY}.oauthbearer"
_ALLOWED = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
_PROTOCOLS = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_SSL,SHORT:SASL_SSL"
# How long a connection to the listener SHORT lasts, unless it logs in again (KIP-368).
REAUTHENTICATED_MS = 3000
Right = tuple[ResourceType, str, AclOperation]


@dataclass
class SecuredBroker:
    """The broker and how to reach it. Every secret that a connection holds is in `secrets`."""

    folder: Path
    authority: Authority
    tokens: TokenServer
    broker: Broker
    passwords: dict[str, str]
    ports: Mapping[str, int]
    secrets: list[str] = field(default_factory=list)

    @property
    def bootstrap(self) -> str:
        return self.broker.bootstrap

    def user(self, mechanism: str) -> str:
        """The name in rights: `User:…`."""
        name = mechanism.split()[0].lower()
        return f"User:CN={name}" if name == "mtls" else f"User:{name}"

    def connection(self, mechanism: str, secret: str | None = None) -> dict[str, str]:
        """The extra of a connection; with a secret of its own, if one is given."""
        if mechanism.startswith("MTLS"):
            return self.certified(in_files=mechanism.endswith("files"))
        extra = {
            "bootstrap.servers": f"127.0.0.1:{self.ports['LOGIN']}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": mechanism,
            "ssl.ca.pem": self.authority.certificate,
        }
        name = mechanism.lower()
        secret = secret or self.passwords[mechanism]
        if mechanism != "OAUTHBEARER":
            return {**extra, "sasl.username": name, "sasl.password": secret}
        return {
            **extra,
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": name,
            "sasl.oauthbearer.client.secret": secret,
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.extensions": "cluster=tests",
            "sasl.oauthbearer.token.endpoint.url": self.tokens.tokens,
            "https.ca.pem": self.authority.certificate,
        }

    def for_seconds(self) -> dict[str, str]:
        """The extra of a login with a token where a connection must renew it every few seconds.

        Its extension is its own: a JVM shares one login among all that are configured alike
        (Kafka's LoginManager), and so their token, however long it lives.
        """
        return self.connection("OAUTHBEARER") | {
            "bootstrap.servers": f"127.0.0.1:{self.ports['SHORT']}",
            "sasl.oauthbearer.extensions": "cluster=seconds",
        }

    def certified(
        self, in_files: bool = False, valid_for: timedelta = timedelta(days=1)
    ) -> dict[str, str]:
        """The extra of a connection with a client certificate, whose key is locked."""
        password = f"canary-{uuid.uuid4().hex}"
        identity = self.authority.client("mtls", password, valid_for)
        # A line of a key says as much as all of it.
        keys = identity.key, unlocked(identity.key, password)
        self.secrets += [password, *(each.splitlines()[1] for each in keys)]
        texts = {
            "ssl.ca": self.authority.certificate,
            "ssl.certificate": identity.certificate,
            "ssl.key": identity.key,
        }
        extra = {
            "bootstrap.servers": f"127.0.0.1:{self.ports['CERTIFICATE']}",
            "security.protocol": "SSL",
            "ssl.key.password": password,
        }
        if not in_files:
            return {**extra, **{f"{of}.pem": text for of, text in texts.items()}}
        for of, text in texts.items():
            place = self.folder / f"{of}.pem"
            place.write_text(text, encoding="utf-8")
            extra[f"{of}.location"] = str(place)
        return extra

    def admits(self, trips: Installed, mechanism: str) -> None:
        """Let a pipeline log in, with the rights that docs/security.md lists."""
        trips.bootstrap, trips.kafka = self.bootstrap, self.connection(mechanism)
        self.allow(self.user(mechanism), *rights(trips))

    def allow(self, user: str, *rights: Right) -> None:
        """Give a user rights."""
        asked = [_binding(user, *each) for each in rights]
        client = admin(self.bootstrap)
        for done in client.create_acls(asked).values():
            done.result(15)

    def take_away(self, user: str, right: Right) -> None:
        """Take one right away."""
        kind, name, operation = right
        wanted = AclBindingFilter(
            kind, name, ResourcePatternType.LITERAL, user, None, operation, AclPermissionType.ALLOW
        )
        client = admin(self.bootstrap)
        (done,) = client.delete_acls([wanted]).values()
        assert len(done.result(15)) == 1, f"{user} has not this right: {right}"

    def set_password(self, mechanism: str, password: str) -> None:
        """Change a SCRAM user's password."""
        kind = getattr(ScramMechanism, mechanism.replace("-", "_"))
        info, client = ScramCredentialInfo(kind, 4096), admin(self.bootstrap)
        change = UserScramCredentialUpsertion(mechanism.lower(), info, password.encode())
        (done,) = client.alter_user_scram_credentials([change]).values()
        done.result(15)
        self.passwords[mechanism] = password
        self.secrets.append(password)


def rights(trips: Installed) -> list[Right]:
    """What docs/security.md lists."""
    (topic,) = trips.topics
    return [
        (ResourceType.TOPIC, topic, AclOperation.READ),
        (ResourceType.TOPIC, topic, AclOperation.DESCRIBE_CONFIGS),
        (ResourceType.GROUP, trips.group, AclOperation.READ),
    ]


def produce_with_gaps(trips: Installed) -> None:
    """Twenty records in two partitions, and an aborted transaction of five with its marker."""
    (topic,) = trips.topics
    produce(trips.bootstrap, topic, numbered(10))
    producer = transactional(trips.bootstrap)
    send(producer, topic, numbered(5, 10), 1)
    end(trips.bootstrap, topic, producer, commit=False, partitions=2)
    produce(trips.bootstrap, topic, numbered(10, 20), 1)


def _binding(user: str, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
    literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    return AclBinding(kind, name, literal, user, "*", operation, allow)


@contextmanager
def secured_broker(folder: Path) -> Iterator[SecuredBroker]:
    """A running broker with all its listeners, users without rights, and its token server."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = Authority()
    passwords = {each: f"canary-{uuid.uuid4().hex}" for each in MECHANISMS if "MTLS" not in each}
    ports = {name: free_port() for name in ("LOGIN", "SHORT", "CERTIFICATE")}
    with TokenServer(authority, folder) as tokens:
        tokens.secrets["oauthbearer"] = passwords["OAUTHBEARER"]
        broker = Broker(
            folder / "broker",
            settings=_settings(folder, authority, tokens, passwords["PLAIN"]),
            listeners=ports,
            properties={_ALLOWED: tokens.keys},
        )
        with broker:
            made = SecuredBroker(folder, authority, tokens, broker, passwords, ports)
            made.secrets += passwords.values()
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                made.set_password(mechanism, passwords[mechanism])
            yield made


def _settings(
    folder: Path, authority: Authority, tokens: TokenServer, plain: str
) -> dict[str, str]:
    store, trusted = folder / "server.pem", folder / "authority.pem"
    store.write_text(authority.server().both, encoding="utf-8")
    trusted.write_text(authority.certificate, encoding="utf-8")
    login, short = "listener.name.login", "listener.name.short"
    scram = f"{_SECURITY}.scram.ScramLoginModule required;"
    return {
        "listener.security.protocol.map": (
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_SSL,SHORT:SASL_SSL,CERTIFICATE:SSL"
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        "super.users": "User:ANONYMOUS",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(trusted),
        "listener.name.certificate.ssl.client.auth": "required",
        f"{login}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        f"{login}.plain.sasl.jaas.config": (
            f'{_SECURITY}.plain.PlainLoginModule required user_plain="{plain}";'
        ),
        **{f"{login}.scram-sha-{n}.sasl.jaas.config": scram for n in (256, 512)},
        **_with_tokens(login, tokens, trusted),
        f"{short}.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{short}.oauthbearer.connections.max.reauth.ms": str(REAUTHENTICATED_MS),
        f"{short}.sasl.oauthbearer.clock.skew.seconds": "0",
        **_with_tokens(short, tokens, trusted),
    }


def _with_tokens(listener: str, tokens: TokenServer, trusted: Path) -> dict[str, str]:
    return {
        # The broker logs in nowhere with a token, and yet is asked for the name in it.
        f"{listener}.oauthbearer.sasl.jaas.config": (
            f'{_TOKENS}.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker"'
            f' ssl.truststore.type="PEM" ssl.truststore.location="{trusted}";'
        ),
        f"{listener}.oauthbearer.sasl.server.callback.handler.class": (
            f"{_TOKENS}.OAuthBearerValidatorCallbackHandler"
        ),
        f"{listener}.sasl.oauthbearer.jwks.endpoint.url": tokens.keys,
        f"{listener}.sasl.oauthbearer.expected.audience": "kafka",
        f"{listener}.sasl.oauthbearer.expected.issuer": tokens.address,
    }
