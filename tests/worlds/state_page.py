"""docs/state.md: its specs, its excerpts of specs, and what it says of each refusal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tests.worlds.documented import page, section

_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r'^\| "(.+?)" \| .* \| (.+) \|$', re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Way:
    """A way out of a refusal: keys of the spec's `state` to be written, then commands.

    Before these, the state table's folder is moved away if it says so.
    """

    moves_away: bool
    state: dict[str, Any]
    commands: list[list[str]]


def whole_specs() -> dict[str, dict[str, Any]]:
    """Pipeline → its spec."""
    return {each["pipeline"]: each for each in _documents() if "pipeline" in each}


def excerpts() -> list[dict[str, Any]]:
    """The pieces that replace those keys of the spec for Debezium."""
    return [each for each in _documents() if "pipeline" not in each]


def refusals() -> dict[str, list[Way]]:
    """A part of the message → the ways out, of which one is enough."""
    rows = _ROW.findall(section("state.md", "## When it stops, or is refused"))
    return {message: [_way(text) for text in told.split("; or ")] for message, told in rows}


def _documents() -> Iterator[dict[str, Any]]:
    for block in _YAML.findall(page("state.md")):
        yield from yaml.safe_load_all(block)


def _way(text: str) -> Way:
    codes = _CODE.findall(text)
    written = [yaml.safe_load(each)["state"] for each in codes if each.startswith("state: ")]
    return Way(
        "move its folder away" in text,
        {name: value for each in written for name, value in each.items()},
        [shlex.split(each) for each in codes if each.startswith("sluice ")],
    )
