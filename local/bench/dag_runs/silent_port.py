"""A silent port: it accepts connections, answers nothing, and counts who called."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def silent_port(port: int) -> Iterator[Callable[[], int]]:
    """In the block, calling the result tells how many have connected since the last call."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        # The system keeps who has connected until somebody looks.
        listening.listen(128)
        listening.setblocking(False)
        yield lambda: _callers(listening)


def _callers(listening: socket.socket) -> int:
    count = 0
    while True:
        try:
            caller, _ = listening.accept()
        except BlockingIOError:
            return count
        caller.close()
        count += 1
