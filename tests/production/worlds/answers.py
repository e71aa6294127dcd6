"""Answers: a proxy in front of an S3 server, told which requests it answers wrongly.

with Answers(folder, gateway.port) as answers, answers.to("PUT", COMMIT, answer=503): …
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from local.embedded.server import Server

COMMIT = r"/_delta_log/\d{20}\.json$"
DATA_FILE = r"\.parquet$"
ALWAYS = 1_000_000


class Answers(Server):
    """The proxy (answering.py), which is honest until told otherwise."""

    def __init__(self, folder: Path, upstream: int) -> None:
        super().__init__(folder, Path(sys.executable))
        self._upstream = upstream

    def command(self) -> list[str]:
        script = Path(__file__).with_name("answering.py")
        return [str(script), str(self.port), str(self._upstream)]

    @contextmanager
    def to(self, method: str, path: str, times: int = ALWAYS, **rule: Any) -> Iterator[None]:
        """So many requests like that are answered by a rule of answering.py, for the block."""
        self._tell({"method": method, "path": path, "times": times, **rule})
        try:
            yield
        finally:
            self.honest()

    def honest(self) -> None:
        """Answer as the server does; what was held goes on."""
        self._tell(None)

    def met(self) -> int:
        """How many requests the rule has met."""
        found: int = self._get("met")
        return found

    def asked(self, method: str, path: str) -> list[dict[str, Any]]:
        """The requests like that, so far."""
        found: list[dict[str, Any]] = self._get("asked")
        return [
            each for each in found if each["method"] == method and re.search(path, each["path"])
        ]

    def _tell(self, rule: dict[str, Any] | None) -> None:
        httpx.put(f"http://127.0.0.1:{self.port}/-/rules", json=rule).raise_for_status()

    def _get(self, what: str) -> Any:
        return httpx.get(f"http://127.0.0.1:{self.port}/-/{what}").raise_for_status().json()
