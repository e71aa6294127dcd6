"""Whether two decoders have found the same."""

from __future__ import annotations

import math
from typing import Any


def alike(ours: Any, reference: Any) -> bool:
    """Equal values of the same types; what is no number is equal to itself."""
    if isinstance(ours, float) and isinstance(reference, float):
        return ours == reference or (math.isnan(ours) and math.isnan(reference))
    if isinstance(ours, dict) and isinstance(reference, dict):
        same = ours.keys() == reference.keys()
        return same and all(alike(each, reference[name]) for name, each in ours.items())
    if isinstance(ours, list) and isinstance(reference, list):
        pairs = zip(ours, reference, strict=False)
        return len(ours) == len(reference) and all(alike(x, y) for x, y in pairs)
    return type(ours) is type(reference) and bool(ours == reference)
