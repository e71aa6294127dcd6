"""Asking: one GET of a schema registry, bounded in time and size, and what its answer means.

Only the type of a library error is reported: its text may contain the request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import ssl
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any, TypeVar

import httpx
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from sluice.errors import RegistryUnavailable, SettingsError
from sluice.registry.registry_settings import RegistrySettings

_ATTEMPTS = 3
# Share of the whole time for one attempt, so that three fit.
_SHARE_OF_ONE = 0.3
# Share of that for connecting: httpcore leaves a connection open that is cancelled in a handshake.
_TO_CONNECT = 0.5
_LARGEST = 16 * 1024 * 1024
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"

# What OpenSSL calls a connection that broke; whatever else it finds stays so.
_BROKEN = re.compile(r"INTERNAL_ERROR|USER_CANCEL|BAD_RECORD_MAC")
# A handshake that ended, or was given up, while one side waited for the other.
_UNFINISHED = (
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
    ssl.SSLWantReadError,
    ssl.SSLWantWriteError,
)

log = logging.getLogger(__name__)

T = TypeVar("T")


class _NoAnswer(Exception):
    """Another attempt may succeed; says what was found."""


@dataclass(frozen=True)
class Answer:
    """What a registry answered: a document, or that it has none by that name."""

    url: str
    document: Any
    # Empty where the document is there; else what the registry says of what is missing.
    missing: str = ""
    # Whether it is in the registry's own words that something is missing.
    by_code: bool = False


class Asking:
    """Questions to a registry over one client, with all their retries."""

    def __init__(self, settings: RegistrySettings, client: httpx.AsyncClient, each: float) -> None:
        self._settings = settings
        self._client = client
        self._each = each
        self._urls: Iterator[str] = cycle(settings.urls)
        self._url = next(self._urls)

    async def get(self, path: str, what: str) -> Answer:
        """The answer to `GET /path`; `what` names what is asked for in errors.

        Raises RegistryUnavailable, or SettingsError if it refuses the login, or is not a registry.
        """
        retrying = AsyncRetrying(
            stop=stop_after_attempt(max(_ATTEMPTS, len(self._settings.urls))),
            wait=wait_random_exponential(multiplier=self._each / 30, max=self._each / 6),
            retry=retry_if_exception_type(_NoAnswer),
            before_sleep=self._tell,
            reraise=True,
        )
        try:
            found: Answer = await retrying(self._once, path, what)
        except _NoAnswer as problem:
            raise unavailable(self._settings, what, str(problem)) from None
        return found

    def _tell(self, state: RetryCallState) -> None:
        problem = state.outcome.exception() if state.outcome else None
        log.warning("connection %s: %s; it is asked again", self._settings.connection, problem)

    async def _once(self, path: str, what: str) -> Answer:
        url = self._url
        try:
            async with asyncio.timeout(self._each):
                status, body = await self._read(f"{url}/{path}", what)
        except TimeoutError:
            self._url = next(self._urls)
            raise _NoAnswer(f"{url} gave no whole answer within {self._each:.0f} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as problem:
            if (refusal := _tls_refusal(problem)) is not None:
                found = f"{url}: no trusted connection: {refusal}"
                raise self._refused(what, "a certificate that is trusted", found, "ssl.*") from None
            self._url = next(self._urls)
            # The reason that a server gives may be lost when it hangs up.
            over_tls = url.startswith("https:") and isinstance(problem, httpx.ReadError)
            hint = ", as of a server that wants another client certificate" if over_tls else ""
            raise _NoAnswer(f"{url}: {type(problem).__name__}{hint}") from None
        return self._judged(url, status, body, what)

    async def _read(self, url: str, what: str) -> tuple[int, bytes]:
        body = bytearray()
        async with self._client.stream("GET", url) as answer:
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > _LARGEST:
                    found = f"{url} answers with more than {_LARGEST} bytes"
                    raise wrong_address(self._settings, what, found)
        return answer.status_code, bytes(body)

    def _judged(self, url: str, status: int, body: bytes, what: str) -> Answer:
        document = _json(body)
        said = f"{url} answers HTTP {status}{self._words(document)}"
        if status in (401, 403):
            keys = "basic.auth.user.info (or login and password), bearer.auth.token"
            raise self._refused(what, "a login that may read it", said, keys)
        if status in (408, 429) or status >= 500:
            self._url = next(self._urls)
            raise _NoAnswer(said)
        if 400 <= status < 500:
            return Answer(url, None, said, _is_missing(document))
        if status != 200 or not isinstance(document, dict | list):
            raise wrong_address(self._settings, what, said)
        return Answer(url, document)

    def _words(self, document: Any) -> str:
        if not isinstance(document, dict):
            return ""
        said = (document.get("error_code"), document.get("message"))
        words = ": ".join(str(each) for each in said if each is not None)
        # The sentence around it has its own full stop.
        told = self._settings.without_secrets(" ".join(words.split())).rstrip(".")
        if not told:
            return ""
        return f", {''.join(each if each.isprintable() else '?' for each in told[:200])}"

    def _refused(self, what: str, expected: str, found: str, keys: str) -> SettingsError:
        connection = self._settings.connection
        return SettingsError(
            f"connection {connection}: {what}: expected {expected}, found that {found}. Correct"
            f" {keys} of the connection, or the registry's rights. Nothing was changed."
        )


def in_time(
    settings: RegistrySettings, limit: float, what: str, ask: Callable[[Asking], Awaitable[T]]
) -> T:
    """Ask with a client of its own, `limit` seconds at most. Raises what `Asking.get` does."""
    each, tls = limit * _SHARE_OF_ONE, settings.tls()
    timeout = httpx.Timeout(each, connect=each * _TO_CONNECT)

    async def asked() -> T:
        headers = {**settings.headers(), "Accept": _ACCEPT, "User-Agent": "sluice"}
        async with (
            asyncio.timeout(limit),
            httpx.AsyncClient(headers=headers, verify=tls, timeout=timeout) as client,
        ):
            return await ask(Asking(settings, client, each))

    try:
        return asyncio.run(asked())
    except TimeoutError:
        raise unavailable(settings, what, f"no whole answer within {limit:.0f} s") from None


def unavailable(settings: RegistrySettings, what: str, found: str) -> RegistryUnavailable:
    """The error of a registry that gives no answer."""
    return RegistryUnavailable(
        f"connection {settings.connection}: {what}: expected an answer of"
        f" {', '.join(settings.urls)}, found that {found}. Nothing was changed; run again when the"
        " registry answers."
    )


def wrong_address(settings: RegistrySettings, what: str, found: str) -> SettingsError:
    """The refusal of an address where something else answers."""
    return SettingsError(
        f"connection {settings.connection}: {what}: expected a schema registry, found that {found}."
        " Correct url of the connection: it ends where /subjects begins. Nothing was changed."
    )


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_missing(document: Any) -> bool:
    """Whether a registry says with a code of its own, such as 40403, that it has no such thing."""
    code = document.get("error_code") if isinstance(document, dict) else None
    return isinstance(code, int) and code // 100 == 404


def _tls_refusal(problem: BaseException) -> str | None:
    """Why a certificate was refused, by whichever side; None where TLS is not the cause."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return str(cause.verify_message)
        if isinstance(cause, _UNFINISHED):
            return None
        if isinstance(cause, ssl.SSLError):
            reason = cause.reason or "no reason given"
            return None if _BROKEN.search(reason) else reason
        cause = cause.__cause__ or cause.__context__
    return None
