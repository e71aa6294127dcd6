"""A mailbox: a mail server on 127.0.0.1 that keeps what it is given."""

from __future__ import annotations

import json
import socketserver
import threading
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Self


class Mailbox:
    """What was sent to it, as long as it is open."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        mails = self.mails

        class Session(socketserver.StreamRequestHandler):
            """One client's mails, by the words of SMTP that a client cannot do without."""

            def handle(self) -> None:
                self._say("220 ready")
                while line := self.rfile.readline():
                    match line.split(maxsplit=1)[0].upper():
                        case b"DATA":
                            self._say("354 go on")
                            mails.append(self._mail())
                            self._say("250 kept")
                        case b"QUIT":
                            self._say("221 bye")
                            return
                        case _:
                            self._say("250 ok")

            def _mail(self) -> EmailMessage:
                lines = iter(self.rfile.readline, b".\r\n")
                return message_from_bytes(b"".join(lines), policy=policy.default)

            def _say(self, text: str) -> None:
                self.wfile.write(f"{text}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def connection(self) -> str:
        """The Airflow connection to it."""
        host, port = self._server.server_address[:2]
        plain = {"disable_ssl": True, "disable_tls": True}
        return json.dumps({"conn_type": "smtp", "host": host, "port": port, "extra": plain})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
