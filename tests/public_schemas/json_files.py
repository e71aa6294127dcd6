"""JSON files: the objects in a package's files, whatever else these hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def json_object(file: Path) -> dict[str, Any]:
    """The object in a file; an empty one where it has none, or is a folder."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (IsADirectoryError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
