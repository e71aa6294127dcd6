"""An HTTP proxy in front of an S3 server, which gives wrong answers to chosen requests.

    python answering.py LISTEN UPSTREAM

It is a process of its own: delta-rs holds Python's lock while it waits for an answer. It is told
what to do under `/-/rules`, and says under `/-/asked` and `/-/met` what it was asked.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# They concern one connection, not the next.
HOP = {"connection", "transfer-encoding", "keep-alive", "expect", "content-length"}
CODES = {
    400: "ExpiredToken",
    409: "ConditionalRequestConflict",
    412: "PreconditionFailed",
    503: "SlowDown",
}
MESSAGES = {400: "The provided token has expired."}


@dataclass
class Rule:
    """What becomes of so many requests of a kind.

    `answer` 0 closes the connection; `landed`: only after the request has taken effect. `held`
    ones wait until the rule is removed, and are then done. `from_then_on`: once it has met one, it
    is for all requests.
    """

    method: str
    path: str
    times: int
    answer: int = 0
    landed: bool = False
    held: bool = False
    from_then_on: bool = False
    met: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    def concerns(self, method: str, path: str) -> bool:
        """Whether it is for this request."""
        if self.from_then_on and self.met:
            return True
        return self.met < self.times and method == self.method and bool(re.search(self.path, path))


class Proxy(ThreadingHTTPServer):
    """The proxy, with its one rule."""

    daemon_threads = True

    def __init__(self, listen: int, upstream: int) -> None:
        super().__init__(("127.0.0.1", listen), Handler)
        self.upstream = upstream
        self.rule: Rule | None = None
        self.asked: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def rule_for(self, method: str, path: str, condition: str | None) -> Rule | None:
        """The rule, if it is for this request; that is noted."""
        with self.lock:
            self.asked.append({"method": method, "path": path, "if_none_match": condition})
            if self.rule is None or not self.rule.concerns(method, path):
                return None
            self.rule.met += 1
            return self.rule

    def replace(self, told: dict[str, Any] | None) -> None:
        """Follow another rule, or none; what the old one held goes on."""
        with self.lock:
            if self.rule is not None:
                self.rule.released.set()
            self.rule = Rule(**told) if told else None


class Handler(BaseHTTPRequestHandler):
    """A request."""

    protocol_version = "HTTP/1.1"
    server: Proxy

    def handle_one_request(self) -> None:
        """As its base does; a client that has gone is no error."""
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def any_request(self) -> None:
        """Pass it on, unless the rule is for it."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        if path.startswith("/-/"):
            return self._controlled(path, body)
        rule = self.server.rule_for(self.command, path, self.headers.get("If-None-Match"))
        if rule is None:
            return self._pass_on(body)
        if rule.held:
            rule.released.wait()
            return self._pass_on(body)
        if rule.landed:
            self._ask(body)
        if rule.answer:
            name = CODES.get(rule.answer, "InternalError")
            # As AWS does: a token is repeated.
            token = f"<Token-0>{self.headers.get('X-Amz-Security-Token', '')}</Token-0>"
            said = f"<Code>{name}</Code><Message>{MESSAGES.get(rule.answer, name)}</Message>"
            content = f"<Error>{said}{token}</Error>".encode()
            # Whoever believes in success looks for the tag.
            return self._answer(rule.answer, content, [("ETag", '"0"')])
        self.close_connection = True
        return None

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = any_request

    def _controlled(self, path: str, body: bytes) -> None:
        if path == "/-/rules":
            self.server.replace(json.loads(body) if body else None)
        rule = self.server.rule
        known = {"/-/asked": self.server.asked, "/-/met": rule.met if rule else 0}
        self._answer(200, json.dumps(known.get(path)).encode())

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        there = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=60)
        try:
            # The signature covers the headers as they are, Host too.
            there.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in HOP:
                    there.putheader(name, value)
            if "Content-Length" in self.headers:
                there.putheader("Content-Length", str(len(body)))
            there.endheaders(body)
            answer = there.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            there.close()

    def _pass_on(self, body: bytes) -> None:
        code, headers, content = self._ask(body)
        self._answer(code, content, headers)

    def _answer(
        self, code: int, content: bytes, headers: list[tuple[str, str]] | None = None
    ) -> None:
        self.send_response_only(code)
        length = str(len(content))
        for name, value in headers or []:
            if name.lower() == "content-length":
                length = value
            elif name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


if __name__ == "__main__":
    Proxy(int(sys.argv[1]), int(sys.argv[2])).serve_forever()
