"""Spans: the versions of a log that one commit of its state table follows, and what they did. Pure.

A span `(after, upto]` that only appended is compared with the state; what it removed or wrote anew
is computed from the whole log; where its files are no longer known, everything is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["nothing", "appended", "rewritten", "everything"]


@dataclass(frozen=True)
class FileBounds:
    """A data file by its path, as the log names it, with its bounds of the coordinates.

    None where the log does not say: topic ids, partitions, offsets, each from the least to the
    greatest. `vector` is the path of its deletion vector, where that is a file of the table.
    """

    path: str
    topic_ids: tuple[str, str] | None = None
    partitions: tuple[int, int] | None = None
    offsets: tuple[int, int] | None = None
    vector: str | None = None


@dataclass(frozen=True)
class LogChange:
    """What a version of the log did to its rows: the files it added and removed.

    A file whose rows were only marked is in both. `rows` are those of the added files, or of the
    removed ones if these are more and the log says so; None where it does not say of the added
    ones. `moved` if it wrote rows into other files, as OPTIMIZE does; `alters` if
    it may have changed columns.
    """

    version: int
    added: tuple[FileBounds, ...] = ()
    removed: tuple[FileBounds, ...] = ()
    rows: int | None = 0
    moved: bool = False
    alters: bool = False

    @property
    def kind(self) -> Kind:
        """Whether rows came, or went as well."""
        if self.removed:
            return "rewritten"
        return "appended" if self.added else "nothing"


@dataclass(frozen=True)
class Span:
    """The versions above `after`, up to `upto`, of one kind.

    `added` are files at `upto`, `removed` files at `after`, which no longer are as they were.
    `rows` are at least those of the added ones; None where the log does not say.
    """

    after: int
    upto: int
    kind: Kind
    added: tuple[FileBounds, ...] = ()
    removed: tuple[FileBounds, ...] = ()
    rows: int | None = None

    def __post_init__(self) -> None:
        if not self.after <= self.upto:
            raise ValueError(f"({self.after}, {self.upto}] is not a span of versions")

    def __str__(self) -> str:
        if self.after == self.upto:
            return f"version {self.upto}"
        return f"versions {self.after + 1} to {self.upto}"


def whole(after: int, upto: int) -> Span:
    """The span of a state table that is computed from the whole log."""
    return Span(min(after, upto), upto, "everything")


def next_span(after: int, changes: Sequence[LogChange], most_rows: int) -> Span:
    """The first span of the changes, oldest first, which begin behind `after`.

    It goes as far as the versions are of one kind, and their rows no more than `most_rows`; its
    first version that has any may have more. Versions that changed no row join any
    span, unless they moved what it added, which is read at its end, or what it removed, which is
    read before it.
    """
    taken: list[LogChange] = []
    kind: Kind = "nothing"
    rows = 0
    for change in changes:
        if change.moved and kind != "nothing":
            break
        if change.removed and any(each.moved for each in taken):
            break
        if change.kind != "nothing":
            if kind not in ("nothing", change.kind):
                break
            rows += change.rows or 0
            if kind != "nothing" and (rows > most_rows or change.rows is None):
                break
            kind = change.kind
        taken.append(change)
    added, removed = _net(taken)
    upto = taken[-1].version if taken else after
    return Span(after, upto, kind, added, removed, rows=_rows(taken))


def _rows(changes: Iterable[LogChange]) -> int | None:
    rows = 0
    for change in changes:
        if change.rows is None:
            return None
        rows += change.rows
    return rows


def _net(changes: Iterable[LogChange]) -> tuple[tuple[FileBounds, ...], tuple[FileBounds, ...]]:
    """The files that are there at the end and were not at the beginning, and the reverse.

    One whose rows were marked in between is both.
    """
    added: dict[str, FileBounds] = {}
    removed: dict[str, FileBounds] = {}
    for change in changes:
        for each in change.removed:
            if added.pop(each.path, None) is None or each.path in removed:
                removed.setdefault(each.path, each)
        for each in change.added:
            added[each.path] = each
    return tuple(added.values()), tuple(removed.values())
