"""Noted: a value, and the notes that people are given about how it was found."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
Notes = tuple[str, ...]


class Noted(NamedTuple, Generic[T]):
    """A value and its notes, a sentence each."""

    value: T
    notes: Notes = ()

    def after(self, notes: Notes) -> Noted[T]:
        """The same value, with earlier notes before its own."""
        return Noted(self.value, (*notes, *self.notes))
