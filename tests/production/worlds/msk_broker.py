"""A broker that admits users as Amazon MSK does: by requests that are signed with an AWS key."""

from __future__ import annotations

import subprocess
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local.embedded.broker import Broker
from local.embedded.broker_jars import JARS
from local.embedded.ports import free_port
from tests.production.worlds.authority import Authority

JUDGE = "SignedRequests"
SOURCE = Path(__file__).parents[1] / "java" / f"{JUDGE}.java"
REGION = "eu-central-1"
_TOKENS = "org.apache.kafka.common.security.oauthbearer"


@dataclass(frozen=True)
class MskBroker:
    """The running broker; `environment` is how a process has the key that it admits."""

    broker: Broker
    authority: Authority
    port: int
    environment: Mapping[str, str]
    accepted: Path

    @property
    def secret(self) -> str:
        return self.environment["AWS_SECRET_ACCESS_KEY"]

    def connection(self, **changed: str) -> dict[str, str]:
        """The extra of a connection, as docs/security.md has it."""
        return {
            "bootstrap.servers": f"127.0.0.1:{self.port}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "AWS_MSK_IAM",
            "aws.region": REGION,
            "ssl.ca.pem": self.authority.certificate,
            **changed,
        }

    def signers(self) -> set[str]:
        """Who signed the tokens that were accepted, without their versions."""
        lines = self.accepted.read_text(encoding="utf-8").splitlines()
        return {line.split()[1].partition("/")[0] for line in lines}

    def tokens(self) -> int:
        """How many logins were accepted."""
        if not self.accepted.exists():
            return 0
        return len(self.accepted.read_text(encoding="utf-8").splitlines())


@contextmanager
def msk_broker(folder: Path, **settings: str) -> Iterator[MskBroker]:
    """It has one listener for such logins, and one without any, which the tests use."""
    authority, port, accepted = Authority(), free_port(), folder / "accepted"
    key, secret = "AKIDOFTHETESTS", f"canary-{uuid.uuid4().hex}"
    store = folder / "server.pem"
    store.write_text(authority.server().both, encoding="utf-8")
    options = {"accessKey": key, "secretKey": secret, "region": REGION, "accepted": str(accepted)}
    words = " ".join(f'{name}="{text}"' for name, text in options.items())
    listener = "listener.name.login"
    protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_SSL"
    own = {
        "listener.security.protocol.map": protocols,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        f"{listener}.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{listener}.oauthbearer.sasl.jaas.config": (
            f'{_TOKENS}.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker"'
            f" {words};"
        ),
        f"{listener}.oauthbearer.sasl.server.callback.handler.class": JUDGE,
        f"{listener}.oauthbearer.sasl.login.callback.handler.class": (
            f"{_TOKENS}.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
        ),
        **settings,
    }
    jars = _with_the_judge(folder)
    with Broker(folder / "broker", settings=own, listeners={"LOGIN": port}, jars=jars) as broker:
        given = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
        # Nothing here may ask the machine that it runs on for an identity.
        alone = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null"}
        yield MskBroker(broker, authority, port, {**given, **alone}, accepted)


def _with_the_judge(folder: Path) -> Path:
    """The broker's jars, and the class that judges."""
    jars, classes = folder / "jars", folder / "classes"
    jars.mkdir()
    for each in JARS.glob("*.jar"):
        (jars / each.name).symlink_to(each)
    subprocess.run(["javac", "-cp", f"{JARS}/*", "-d", str(classes), str(SOURCE)], check=True)
    with zipfile.ZipFile(jars / "judge.jar", "w") as jar:
        for found in sorted(classes.rglob("*.class")):
            jar.write(found, found.relative_to(classes))
    return jars
