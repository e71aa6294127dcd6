"""The private authority of a test: it signs the certificates of servers and clients."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Identity:
    """A certificate and its private key, as PEM texts."""

    certificate: str
    key: str

    @property
    def both(self) -> str:
        """In one text, as a Java key store in PEM has them."""
        return self.key + self.certificate


class Authority:
    """Signs certificates; `certificate` is what those must trust who meet them."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("Sluice's tests")
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        building = _dated(self._name, self._name, self._key, timedelta(30))
        signed = building.add_extension(constraints, critical=True).sign(self._key, hashes.SHA256())
        self.certificate = _pem(signed)

    def server(self) -> Identity:
        """For a server at 127.0.0.1, and nowhere else."""
        return self._signed("127.0.0.1", _DAY, None)

    def client(self, name: str, password: str, valid_for: timedelta = _DAY) -> Identity:
        """For a client; its key is locked with the password. A negative time has passed."""
        return self._signed(name, valid_for, password)

    def _signed(self, name: str, valid_for: timedelta, password: str | None) -> Identity:
        key = ec.generate_private_key(ec.SECP256R1())
        building = _dated(_named(name), self._name, key, valid_for)
        if password is None:
            address = x509.SubjectAlternativeName([x509.IPAddress(ip_address(name))])
            building = building.add_extension(address, critical=False)
        locked: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password is not None:
            locked = serialization.BestAvailableEncryption(password.encode())
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        text = key.private_bytes(encoding, form, locked).decode()
        return Identity(_pem(building.sign(self._key, hashes.SHA256())), text)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _dated(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, valid_for: timedelta
) -> x509.CertificateBuilder:
    public, number = key.public_key(), x509.random_serial_number()
    building = x509.CertificateBuilder(issuer, subject, public, number)
    now = datetime.now(UTC)
    since, until = min(now, now + valid_for) - _DAY, now + valid_for
    return building.not_valid_before(since).not_valid_after(until)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
