"""A free port on the loopback interface."""

import random
import socket

# Below the range that systems hand to outgoing connections: a port stays free across a restart.
CANDIDATES = range(20_000, 32_000)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(*taken: int) -> int:
    """A free port that is not reserved for later."""
    for port in random.sample(CANDIDATES, k=200):
        if port not in taken and is_free(port):
            return port
    raise OSError(f"no free loopback port found in {CANDIDATES}")


def answers(port: int) -> bool:
    """Whether a process listens there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
