"""A data log in which another writer's commit takes the place of the first fence.

So may a log store do that looks whether a commit is there, and then renames: both are told success.
"""

from __future__ import annotations

import json
from pathlib import Path

from sluice.tables.delta_log import DeltaLog
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.fence import FENCE

OTHERS = {"commitInfo": {"timestamp": 0, "operation": "OPTIMIZE", "operationParameters": {}}}


class Overwritten(DeltaLog):
    """The first snapshot that would show the fence shows what has overwritten it."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self._overwritten = False

    def snapshot(self) -> DeltaSnapshot:
        newest = max((Path(self.uri) / "_delta_log").glob("*.json"), default=None)
        if newest and not self._overwritten and str(FENCE) in newest.read_text(encoding="utf-8"):
            newest.write_text(json.dumps(OTHERS) + "\n", encoding="utf-8")
            self._overwritten = True
        return super().snapshot()
