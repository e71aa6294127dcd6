"""A client certificate that has expired is named before any client connects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sluice.broker.client_settings import ClientSettings
from sluice.errors import SettingsError

from tests.production.worlds.authority import Authority

CLIENTS: dict[str, Callable[[ClientSettings], Any]] = {
    "librdkafka": lambda client: client.librdkafka(),
    "Java": lambda client: client.java(),
    "the raw log's": lambda client: client.aiokafka(5),
}
each_client = pytest.mark.parametrize("configured", CLIENTS.values(), ids=CLIENTS)


def extra(valid_for: timedelta, folder: Path | None = None) -> dict[str, str]:
    """A connection with a client certificate, in a file where there is a folder for it."""
    identity = Authority().client("sluice", "canary", valid_for)
    texts = {"ssl.certificate": identity.certificate, "ssl.key": identity.key}
    broker = {"bootstrap.servers": "127.0.0.1:9", "security.protocol": "SSL"}
    locked = {**broker, "ssl.key.password": "canary"}
    if folder is None:
        return {**locked, **{f"{of}.pem": text for of, text in texts.items()}}
    for of, text in texts.items():
        (folder / of).write_text(text)
    return {**locked, **{f"{of}.location": str(folder / of) for of in texts}}


def client(found: dict[str, str]) -> ClientSettings:
    return ClientSettings.from_extra("kafka_default", found)


@each_client
def test_an_expired_certificate_is_refused_with_its_owner_and_its_end(
    configured: Callable[[ClientSettings], Any],
) -> None:
    with pytest.raises(SettingsError) as refused:
        configured(client(extra(timedelta(minutes=-5))))
    told = str(refused.value)
    assert told.startswith("connection kafka_default: ssl.certificate.pem: expected a certificate")
    assert "found that of CN=sluice, which expired at 20" in told
    assert "Put a renewed one in its place, with its key." in told
    assert "canary" not in told


@each_client
def test_one_in_a_file_is_refused_with_its_file(
    configured: Callable[[ClientSettings], Any], tmp_path: Path
) -> None:
    with pytest.raises(
        SettingsError, match=r"ssl\.certificate\.location: .*/ssl\.certificate: exp"
    ):
        configured(client(extra(timedelta(days=-1), tmp_path)))


@each_client
def test_one_that_is_valid_is_used(configured: Callable[[ClientSettings], Any]) -> None:
    assert configured(client(extra(timedelta(minutes=5))))


def test_a_text_that_is_no_certificate_is_left_to_its_client() -> None:
    found = {**extra(timedelta(days=1)), "ssl.certificate.pem": "CERT"}
    assert client(found).librdkafka()["ssl.certificate.pem"] == "CERT"
