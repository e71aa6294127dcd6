"""Verdicts on a little world: what the oracle says of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.oracle import Verdict, judge
from tests.oracle.world import World, decode


def verdict_on(world: World, warehouse: Path, **expectations: Any) -> Verdict:
    """Write the world's tables there, and judge them."""
    world.write(warehouse)
    return verdict_of(world, warehouse, **expectations)


def verdict_of(world: World, warehouse: Path, **expectations: Any) -> Verdict:
    """Judge the tables that are there."""
    given: dict[str, Any] = {"truth": world.truth, "fmt": "json", "decode": decode} | expectations
    return judge("unused:0", warehouse, world.pipeline, world.table, [], **given)
