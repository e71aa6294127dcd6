"""Registry settings: how a schema registry is reached, as one Airflow connection says it.

Its `extra` has the names of Confluent's SchemaRegistryClient. Host, port, login and password of
the connection itself serve as well, as for any connection of type http.
"""

from __future__ import annotations

import base64
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import SplitResult, unquote, urlsplit

from sluice.connections import Connection
from sluice.errors import SettingsError
from sluice.tls import require_in_date, tls_context

_LOGIN_SOURCE, _LOGIN = "basic.auth.credentials.source", "basic.auth.user.info"
_TOKEN_SOURCE, _TOKEN = "bearer.auth.credentials.source", "bearer.auth.token"
_CLUSTER, _POOL = "bearer.auth.logical.cluster", "bearer.auth.identity.pool.id"
_KEYS = (
    "url",
    _LOGIN_SOURCE,
    _LOGIN,
    _TOKEN_SOURCE,
    _TOKEN,
    _CLUSTER,
    _POOL,
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "ssl.key.password",
)
# The two that Confluent Cloud asks for beside a token, and their headers.
_BESIDE_TOKEN = {_CLUSTER: "target-sr-cluster", _POOL: "Confluent-Identity-Pool-Id"}
_IN_A_HEADER = re.compile(r"[!-~]+")
_EXAMPLE = (
    '{"conn_type": "http", "login": "…", "password": "…", "extra": {"url": "https://host:8081"}}'
)


@dataclass(frozen=True)
class RegistrySettings:
    """How to reach a schema registry. Validated on creation; values may be secrets.

    Raises SettingsError, which names the connection and the key, and repeats no value.
    """

    connection: str
    settings: Mapping[str, str] = field(repr=False)

    @classmethod
    def from_environment(cls, connection: str, environment: Mapping[str, str]) -> RegistrySettings:
        """Those of `AIRFLOW_CONN_<ID>`. Raises SettingsError when it is not set, or unusable."""
        return cls.from_connection(Connection.require(connection, environment, _EXAMPLE))

    @classmethod
    def from_connection(cls, found: Connection) -> RegistrySettings:
        """Those of a connection; null counts as missing."""
        settings = {k: str(v) for k, v in found.extra.items() if v is not None or k not in _KEYS}
        for key, own, places in (
            ("url", _url_of(found), "host"),
            (_LOGIN, _login_of(found), "login"),
        ):
            if own and key in settings:
                raise found.unusable(f"extra.{key}, {places}", "one of them", "both")
            if own:
                settings[key] = own
        return cls(found.name, settings)

    def __post_init__(self) -> None:
        if unknown := sorted({*self.settings} - {*_KEYS}):
            raise self._refused("extra", f"only {', '.join(_KEYS)}", ", ".join(unknown))
        if not self.settings.get("url"):
            raise self._refused("extra.url", "https://host:port", "nothing")
        for each in self._places():
            self._require_address(each)
        self._check_login()
        self._check_token()
        certificate, key = (
            any(f"{of}.{form}" in self.settings for form in ("pem", "location"))
            for of in ("ssl.certificate", "ssl.key")
        )
        if certificate != key:
            raise self._refused(
                "extra",
                "ssl.certificate.pem (or .location) and ssl.key.pem (or .location) together",
                "one of them",
            )

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the registry is, without a login; each is as good as the others."""
        return tuple(
            f"{each.scheme.lower()}://{each.netloc.rpartition('@')[2]}{each.path.rstrip('/')}"
            for each in self._places()
        )

    def headers(self) -> dict[str, str]:
        """What each request says of who asks."""
        if login := self._login().encode("utf-8", "surrogatepass"):
            return {"Authorization": f"Basic {base64.b64encode(login).decode()}"}
        if token := self.settings.get(_TOKEN):
            beside = {
                header: self.settings[key]
                for key, header in _BESIDE_TOKEN.items()
                if key in self.settings
            }
            return {"Authorization": f"Bearer {token}", **beside}
        return {}

    def without_secrets(self, text: str) -> str:
        """A text of the registry; empty if it repeats a secret."""
        secrets = {self._login().partition(":")[2], self.settings.get(_TOKEN, "")}
        secrets.add(self.headers().get("Authorization", "").partition(" ")[2])
        # Addresses have them quoted.
        told = f"{text}\n{unquote(text)}"
        return "(it repeats a secret)" if any(each and each in told for each in secrets) else text

    def tls(self) -> ssl.SSLContext:
        """Whom an https connection trusts. Raises SettingsError for unusable certificates."""
        try:
            require_in_date(self.settings, datetime.now(UTC))
            return tls_context(self.settings)
        except SettingsError as problem:
            raise SettingsError(f"connection {self.connection}: {problem}") from None

    def _places(self) -> list[SplitResult]:
        try:
            return [urlsplit(each.strip()) for each in self.settings["url"].split(",")]
        except ValueError:
            raise self._no_address() from None

    def _require_address(self, place: SplitResult) -> None:
        try:
            well = place.hostname and (place.port is None or place.port > 0)
        except ValueError:
            well = False
        if place.scheme.lower() not in ("http", "https") or place.query or place.fragment:
            well = False
        if not well or not _IN_A_HEADER.fullmatch(place.netloc.rpartition("@")[2] + place.path):
            raise self._no_address()

    def _login(self) -> str:
        """`user:password`; empty without a login."""
        if given := self.settings.get(_LOGIN):
            return given
        for each in self._places():
            if each.username is not None:
                return f"{unquote(each.username)}:{unquote(each.password or '')}"
        return ""

    def _check_login(self) -> None:
        in_url = any(each.username is not None for each in self._places())
        given, source = self.settings.get(_LOGIN), self.settings.get(_LOGIN_SOURCE)
        if given and in_url:
            raise self._refused(f"{_LOGIN}, url", "a login in one of them", "both")
        if given and ":" not in given:
            raise self._refused(_LOGIN, "user:password", "another form")
        if source not in (None, "USER_INFO", "URL"):
            raise self._refused(_LOGIN_SOURCE, "USER_INFO or URL", "another")
        if source == "USER_INFO" and not given:
            raise self._refused(_LOGIN, "user:password", "nothing")
        if source == "URL" and not in_url:
            raise self._refused("url", "https://user:password@host:port", "one without a login")

    def _check_token(self) -> None:
        source = self.settings.get(_TOKEN_SOURCE)
        having = [key for key in (_TOKEN, *_BESIDE_TOKEN) if key in self.settings]
        if source not in (None, "STATIC_TOKEN"):
            raise self._refused(_TOKEN_SOURCE, "STATIC_TOKEN", "another")
        if (source or having) and _TOKEN not in having:
            raise self._refused(_TOKEN, "a token", "nothing")
        if having and self._login():
            raise self._refused(f"{_TOKEN}, {_LOGIN}", "one of them", "both")
        for key in having:
            if not _IN_A_HEADER.fullmatch(self.settings[key]):
                raise self._refused(key, "printable ASCII characters without spaces", "others")

    def _no_address(self) -> SettingsError:
        return self._refused("url", "https://host[:port][/path], comma-separated", "another form")

    def _refused(self, key: str, expected: str, found: str) -> SettingsError:
        return Connection(self.connection).unusable(key, expected, found)


def _url_of(found: Connection) -> str:
    """As Airflow's own hook for http makes it of host, port and schema."""
    host = found.host.rstrip("/")
    if host and "://" not in host:
        host = f"{found.schema or 'http'}://{host}"
    return f"{host}:{found.port}" if host and found.port else host


def _login_of(found: Connection) -> str:
    if found.password and not found.login:
        raise found.unusable("login, password", "both, or none", "only a password")
    if ":" in found.login:
        raise found.unusable("login", "a name without a colon", "one")
    return f"{found.login}:{found.password}" if found.login else ""
