"""A front: HTTPS and a login before a registry that has neither. It only reads."""

from __future__ import annotations

import base64
import ssl
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx

from tests.production.worlds.authority import Authority
from tests.worlds.scripted_http import Answering, ScriptedServer, document, plain

USER, PASSWORD = "sluice", "correct horse"


def front(
    upstream: str, authority: Authority, folder: Path, clients: bool = False
) -> ScriptedServer:
    """A server whose answers are those of `upstream`; with `clients` it asks for a certificate."""
    identity = folder / "front.pem"
    identity.write_text(authority.server().both, encoding="utf-8")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority.certificate)
    made = ScriptedServer(context)
    made.otherwise = _forwarded(upstream)
    return made


def _forwarded(upstream: str) -> Answering:
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    def answer(to: BaseHTTPRequestHandler) -> None:
        if to.headers["Authorization"] != f"Basic {login}":
            return document({"error_code": 401, "message": "Unauthorized"}, 401)(to)
        found = httpx.get(f"{upstream}{to.path}", trust_env=False)
        return plain(found.status_code, found.content)(to)

    return answer
