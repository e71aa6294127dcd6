"""TLS: certificates and keys, as text or in a file, and the authorities to trust."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from sluice.errors import SettingsError


def pem_text(settings: Mapping[str, str], of: str) -> str | None:
    """The text in `<of>.pem`, or in the file that `<of>.location` names; None without either.

    Raises SettingsError for a file that cannot be read; it names the key and the file.
    """
    if f"{of}.pem" in settings:
        return settings[f"{of}.pem"]
    place = settings.get(f"{of}.location")
    if place is None:
        return None
    try:
        return Path(place).read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "not a text in UTF-8"
        raise SettingsError(
            f"{of}.location: expected a PEM file, found {place}: {why}. Put the file where the"
            f" task runs, or its text into {of}.pem."
        ) from problem


def require_in_date(settings: Mapping[str, str], now: datetime) -> None:
    """Raises SettingsError for a client certificate that has expired.

    A broker may only hang up on it. Texts that cannot be read are left to the clients.
    """
    text = pem_text(settings, "ssl.certificate")
    try:
        found = x509.load_pem_x509_certificate(text.encode()) if text else None
    except ValueError:
        return
    if found is not None and found.not_valid_after_utc < now:
        key = "ssl.certificate.pem"
        if key not in settings:
            key = f"ssl.certificate.location: {settings['ssl.certificate.location']}"
        until = found.not_valid_after_utc.astimezone(UTC)
        raise SettingsError(
            f"{key}: expected a certificate that is valid now, {now:%Y-%m-%d %H:%M:%SZ}, found that"
            f" of {found.subject.rfc4514_string()}, which expired at {until:%Y-%m-%d %H:%M:%SZ}."
            " Put a renewed one in its place, with its key."
        )


def unlocked(key: str, password: str | None) -> str:
    """The private key as Java reads it: PKCS #8, without a password.

    Java only opens keys locked by an openssl before version 3. Raises SettingsError.
    """
    try:
        found = load_pem_private_key(key.encode(), password.encode() if password else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
        # Its text may quote the key.
        raise SettingsError(
            "ssl.key.pem, ssl.key.location: not a private key in PEM, or not the key's password in"
            f" ssl.key.password ({type(problem).__name__})"
        ) from None
    return found.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


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
