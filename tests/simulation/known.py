"""What is known: holes that are not mended yet, each with how its findings look."""

from __future__ import annotations

from dataclasses import dataclass

from tests.simulation.history import History
from tests.simulation.oracle import Finding


@dataclass(frozen=True)
class Hole:
    """A hole by its name: the kinds of its findings, and what must have been done in a history."""

    name: str
    kinds: tuple[str, ...]
    needs: tuple[frozenset[str], ...]


def _hole(name: str, kinds: tuple[str, ...], *needs: set[str]) -> Hole:
    return Hole(name, kinds, tuple(frozenset(each) for each in needs))


_UPDATE = "others update a row"
_RESTORED = "others restore the data table"
_PUT_BACK = "the data table is put back"
_QUARANTINE = (
    {"the quarantine is dropped"},
    {"the quarantine is put back"},
    {"others restore the quarantine"},
)
_OFFSETS = (
    {"others restore the offsets table"},
    {"the offsets table is put back"},
)
_LOST = ("the offsets table is dropped", "others restore the offsets table")
_RECOVER = "recover"
_PUT = "the offsets table is put back"
_LOGS = ({"an unclean election"}, {"a segment is lost"}, {"brokers put back"})

HOLES: tuple[Hole, ...] = (
    _hole("T4", ("an update is undone", "a neighbour changed"), {_UPDATE}),
    _hole(
        "T13",
        ("missing", "verify is red, accounted", "verify is red, complete"),
        *_QUARANTINE,
    ),
    _hole("N4", ("verify is red",), *_OFFSETS),
    _hole(
        "N1",
        ("twice",),
        *({"the data table is cloned", each} for each in (*_LOST, _RECOVER)),
    ),
    _hole("T12", ("a window is narrower",), {"backfill"}),
    _hole("T9", ("verify is green over what runs refuse",), *_LOGS),
    _hole(
        "T15",
        ("missing", "verify is red, tiled", "verify is red, complete"),
        *({"skip", each} for each in (*_LOST, _RECOVER)),
        *({"loss is decided", each} for each in (*_LOST, _RECOVER)),
        *({"retention deletes", each} for each in (*_LOST, _RECOVER)),
    ),
    _hole(
        "T16",
        ("lost, though Kafka holds it",),
        *({"rows vanish from a file", each} for each in (*_LOST, _PUT, _RECOVER)),
        *({"the reader leaves out a record", each} for each in (*_LOST, _PUT, _RECOVER)),
    ),
    _hole("N3", ("no way out, TableRefused",), *({_RESTORED, each} for each in _LOST)),
    _hole("N5 or N7", ("verify is red, no phantom",), *_LOGS),
)


def known_as(history: History, finding: Finding) -> str:
    """The name of the hole that a history has fallen into; empty for a new one."""
    for hole in HOLES:
        if finding.kind.startswith(hole.kinds) and any(e <= history.names for e in hole.needs):
            return hole.name
    return ""
