"""The token server of a test: an OpenID provider's two addresses, for tokens and for its keys."""

from __future__ import annotations

import base64
import json
import ssl
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.production.worlds.authority import Authority


class TokenServer:
    """Gives signed tokens for client credentials, over HTTPS. `given` are all that it gave.

    They are valid for `lifetime` seconds.
    """

    def __init__(self, authority: Authority, folder: Path) -> None:
        self.secrets: dict[str, str] = {}
        self.given: list[str] = []
        self.lifetime = 300
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _answers(self))
        identity = folder / "token-server.pem"
        identity.write_text(authority.server().both, encoding="utf-8")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity)
        # The handshake is made by the thread that answers, so that nobody can hold up the others.
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self._server.server_address[1]}"

    @property
    def tokens(self) -> str:
        return f"{self.address}/token"

    @property
    def keys(self) -> str:
        return f"{self.address}/keys"

    def key_set(self) -> dict[str, Any]:
        """The public key, as a JSON Web Key Set."""
        public = json.loads(RSAAlgorithm.to_jwk(self._key.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def token_for(self, login: str) -> dict[str, Any] | None:
        """The answer to `Basic …`; None where the secret is not the client's."""
        name, _, secret = base64.b64decode(login.removeprefix("Basic ")).decode().partition(":")
        if not secret or self.secrets.get(name) != secret:
            return None
        now = int(time.time())
        claims = {"iss": self.address, "aud": "kafka", "sub": name, "scope": "kafka"}
        dated = {**claims, "iat": now, "exp": now + self.lifetime, "jti": uuid.uuid4().hex}
        token = jwt.encode(dated, self._key, "RS256", {"kid": "one"})
        self.given.append(token)
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime}


def _answers(server: TokenServer) -> type[BaseHTTPRequestHandler]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, server.key_set())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            found = server.token_for(self.headers.get("Authorization", ""))
            self._send(200, found) if found else self._send(401, {"error": "invalid_client"})

        def _send(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Answers
