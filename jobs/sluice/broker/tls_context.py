"""The TLS context: which brokers an aiokafka connection trusts, and its client certificate."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sluice.broker.pem_files import pem_text
from sluice.errors import SettingsError


def tls_context(settings: Mapping[str, str]) -> ssl.SSLContext:
    """The context that librdkafka's `ssl.*` settings describe. Raises SettingsError."""
    place = settings.get("ssl.ca.location")
    folder = place is not None and Path(place).is_dir()
    try:
        context = ssl.create_default_context(
            cafile=None if folder else place,
            capath=place if folder else None,
            cadata=settings.get("ssl.ca.pem"),
        )
        certificate, private = pem_text(settings, "ssl.certificate"), pem_text(settings, "ssl.key")
        if certificate and private:
            _load_certificate(context, certificate, private, settings.get("ssl.key.password"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"ssl.*.location, ssl.*.pem: not usable: {error}") from error
    if settings.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    return context


def _load_certificate(
    context: ssl.SSLContext, certificate: str, private: str, password: str | None
) -> None:
    with _path_to(certificate) as chain, _path_to(private) as key:
        # Without a password it would be asked for on the terminal.
        context.load_cert_chain(chain, key, password or "")


@contextmanager
def _path_to(text: str) -> Iterator[str]:
    """A path that can be read once: a private key must never be on disk."""
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
