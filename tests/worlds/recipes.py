"""The recipes of docs/operations.md: each heading's commands and spec excerpts, in order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Commands (`sh`), keys of a spec (`yaml`), or a DAG file (`python`)."""

    language: str
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """The words of each line; none if the block holds no commands."""
        lines = self.text.splitlines() if self.language == "sh" else []
        return [shlex.split(line, comments=True) for line in lines]

    @property
    def choices(self) -> list[dict[str, Any]]:
        """Spec keys, one choice per document; none if the block holds commands."""
        return list(yaml.safe_load_all(self.text)) if self.language == "yaml" else []


def recipes() -> dict[str, list[Block]]:
    """The blocks of every heading, in the order of the page."""
    parts = _HEADING.split(PAGE.read_text(encoding="utf-8"))
    return {
        heading: [Block(*found) for found in _BLOCK.findall(text)]
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def commands_of(program: str) -> Iterator[tuple[str, list[str]]]:
    """The heading and the words of each command of a program, such as `sluice`."""
    for heading, blocks in recipes().items():
        for words in (words for block in blocks for words in block.commands):
            if words[0] == program:
                yield heading, words
