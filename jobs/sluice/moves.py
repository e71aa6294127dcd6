"""Moves: the commands that a refusal names, as values that its text is made of."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

YOUR_WORDS = "…"
"""Stands for words that only the operator can give, such as a reason."""


@dataclass(frozen=True)
class Move:
    """A command of `sluice`, such as `quarantine list`, and its arguments."""

    command: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        # A shell takes it as it is, and people know it unquoted.
        words = (each if each == YOUR_WORDS else shlex.quote(each) for each in self.arguments)
        return " ".join(["sluice", self.command, *words])


def options(name: str, values: Iterable[object]) -> tuple[str, ...]:
    """The arguments that give an option once for each value."""
    return tuple(word for each in values for word in (name, str(each)))


class Advising(Protocol):
    """Anything whose text names moves: an advice, or an error."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves in the order in which the text names them, each once."""


@dataclass(frozen=True)
class Advice:
    """A text, and the moves that it names."""

    text: str
    moves: tuple[Move, ...] = ()

    def __str__(self) -> str:
        return self.text


Part = str | Move | Advising
"""What a text is made of; formatted into a string, a move would be lost as a value."""


def advice(*parts: Part, between: str = "") -> Advice:
    """One text of several parts: moves are written as code, and gathered with those of others."""
    texts = [f"`{each}`" if isinstance(each, Move) else str(each) for each in parts]
    moves = (move for each in parts for move in _moves_of(each))
    return Advice(between.join(texts), tuple(dict.fromkeys(moves)))


def _moves_of(part: Part) -> tuple[Move, ...]:
    if isinstance(part, str):
        return ()
    return (part,) if isinstance(part, Move) else part.moves
