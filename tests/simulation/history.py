"""A history: the seed that drew it, and its steps, each a name and four numbers.

What a number means depends on the state that the step meets, so that a step still means something
when those before it are taken away.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

Draws = tuple[int, int, int, int]


@dataclass(frozen=True)
class Step:
    """One step: what is done, and with which numbers, each below 65,536."""

    name: str
    draws: Draws = (0, 0, 0, 0)


@dataclass(frozen=True)
class History:
    """What a simulation plays. `setting` chooses the spec and the topics that it begins with."""

    seed: str
    setting: int
    steps: tuple[Step, ...] = field(default=())

    def with_steps(self, steps: Sequence[Step]) -> History:
        """The same setting, and other steps."""
        return replace(self, steps=tuple(steps))

    @property
    def names(self) -> frozenset[str]:
        """What is done in it."""
        return frozenset(each.name for each in self.steps)


def as_text(history: History, told: Sequence[str], finding: str, known: str = "") -> str:
    """The history as JSON, a step a line, with what each did for people to read."""
    head = {"seed": history.seed, "setting": history.setting, "finding": finding, "known": known}
    steps = [[each.name, *each.draws] for each in history.steps]
    lists: dict[str, Sequence[object]] = {"steps": steps, "told": told}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, values in lists.items():
        inner = ",\n".join(f"  {json.dumps(each, ensure_ascii=False)}" for each in values)
        lines.append(f" {json.dumps(key)}: [\n{inner}\n ]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


@dataclass(frozen=True)
class Stored:
    """A history as a file keeps it: with the finding it leads to, and the hole it is known for."""

    history: History
    finding: str
    known: str


def read_history(path: Path) -> Stored:
    """A history from its file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    steps = tuple(Step(name, (a, b, c, d)) for name, a, b, c, d in document["steps"])
    history = History(document["seed"], document["setting"], steps)
    return Stored(history, document["finding"], document["known"])
