"""The token endpoint: where an OAuth client fetches its token, for the raw log's connection.

librdkafka and the JVM have clients of their own for it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping

from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import AuthenticationFailedError

from sluice.broker.java_settings import extensions
from sluice.tls import pem_text

_TIMEOUT_S = 10.0


class TokenEndpoint(AbstractTokenProvider):  # type: ignore[misc]
    """A token for each connection, by the client's credentials (RFC 6749, section 4.4)."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._url = settings["sasl.oauthbearer.token.endpoint.url"]
        self._client = settings["sasl.oauthbearer.client.id"]
        self._secret = settings["sasl.oauthbearer.client.secret"]
        self._scope = settings.get("sasl.oauthbearer.scope")
        self._extensions = extensions(settings)
        self._authorities = pem_text(settings, "https.ca")

    async def token(self) -> str:
        """A new token. Raises AuthenticationFailedError, or OSError if there is no answer."""
        return await asyncio.to_thread(self._fetch)

    def extensions(self) -> Mapping[str, str]:
        """What is sent with the token (KIP-342)."""
        return self._extensions

    def _fetch(self) -> str:
        form = {"grant_type": "client_credentials"} | (
            {"scope": self._scope} if self._scope else {}
        )
        login = base64.b64encode(f"{self._client}:{self._secret}".encode()).decode()
        request = urllib.request.Request(
            self._url,
            urllib.parse.urlencode(form).encode(),
            {"Authorization": f"Basic {login}", "Accept": "application/json"},
        )
        context = ssl.create_default_context(cadata=self._authorities)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context) as answer:
                return str(json.load(answer)["access_token"])
        except urllib.error.HTTPError as refused:
            refused.close()
            raise AuthenticationFailedError(
                f"token endpoint {self._url}: refused a token: {refused.code} {refused.reason}"
            ) from None
        except urllib.error.URLError as problem:
            if not isinstance(problem.reason, ssl.SSLCertVerificationError):
                raise
            raise AuthenticationFailedError(
                f"token endpoint {self._url}: its certificate is refused: {problem.reason}"
            ) from None
        except (ValueError, KeyError):
            raise AuthenticationFailedError(
                f"token endpoint {self._url}: expected a JSON object with access_token, found"
                " something else"
            ) from None
