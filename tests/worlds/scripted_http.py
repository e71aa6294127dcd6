"""A scripted server: it answers each path as a test says, also as no good server would."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Self

Answering = Callable[[BaseHTTPRequestHandler], None]


class ScriptedServer:
    """Over HTTP, or HTTPS with a context. `asked` are the paths that it was asked for, in order.

    `answers` are by path; a list is used up, its last answer stays.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.answers: dict[str, Answering | list[Answering]] = {}
        self.otherwise: Answering = plain(404, b"nothing here")
        self.host = "127.0.0.1"
        self.over = Event()
        self._scheme = "https" if tls else "http"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        if tls:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"{self._scheme}://{self.host}:{self._server.server_address[1]}"

    def answer_to(self, path: str) -> Answering:
        """How the next request for a path is answered."""
        found = self.answers.get(path, self.otherwise)
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


def plain(status: int, body: bytes, **headers: str) -> Answering:
    """An answer as it is."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        to.send_response(status)
        for name, text in headers.items():
            to.send_header(name, text)
        to.send_header("Content-Length", str(len(body)))
        to.end_headers()
        to.wfile.write(body)

    return answer


def document(found: Any, status: int = 200) -> Answering:
    """An answer in JSON."""
    return plain(status, json.dumps(found).encode())


def silence(to: BaseHTTPRequestHandler) -> None:
    """Never an answer."""
    to.server.script.over.wait(60)  # type: ignore[attr-defined]


def hang_up(to: BaseHTTPRequestHandler) -> None:
    """No answer; the connection ends."""


def dripping(start: bytes) -> Answering:
    """The start, and then a byte each 50 ms, without end."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        over: Event = to.server.script.over  # type: ignore[attr-defined]
        to.wfile.write(start)
        deadline = time.monotonic() + 60
        while not over.wait(0.05) and time.monotonic() < deadline:
            to.wfile.write(b" ")

    return answer


def _handler(script: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Scripted(BaseHTTPRequestHandler):
        def setup(self) -> None:
            self.server.script = script  # type: ignore[attr-defined]
            super().setup()

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                """The client, too, may hang up."""

        def do_GET(self) -> None:
            script.asked.append(self.path)
            script.headers.append(dict(self.headers))
            script.answer_to(self.path)(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Scripted
