"""JSON values: a record's bytes as JSON has them. Pure."""

from __future__ import annotations

import json
from typing import Any

from sluice.schemas.inference import parse_object
from sluice.schemas.values import Written


class JsonValues:
    """The values of one schema: of objects, or of anything; `title` is the name of its records."""

    def __init__(self, title: str, has_fields: bool) -> None:
        self._title, self._has_fields = title, has_fields

    def record(self, found: Written) -> str:
        """The schema's title."""
        return self._title

    def value(self, found: Written) -> Any:
        """What the bytes hold. Raises ValueError."""
        if self._has_fields:
            # As strictly as records are decoded.
            parse_object(found.body)
        try:
            return json.loads(found.body)
        except (ValueError, RecursionError) as problem:
            raise ValueError(f"expected JSON, found {problem}") from None
