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
_CLONED = {"the data table is cloned", "others delete a row"}
_PUT = "the offsets table is put back"
_ROTTEN = "rows vanish from a file"
_LEFT_OUT = "the reader leaves out a record"
# What is told of offsets without a row, and forgotten with the offsets table.
_TOLD = ("skip", "drop", "loss is decided", "retention deletes")
# The topic has gone, with what the tables said of it.
_GONE = ("topic created anew", "topic deleted", "another cluster")
_LESS = (_RESTORED, _PUT_BACK, "the data table is dropped", "the data table is cloned")
_LOGS = ({"an unclean election"}, {"a segment is lost"}, {"brokers put back"})

_OTHER_LOG = ("topic created anew", "an unclean election", "brokers put back", "another cluster")
_RESETS = ("reset", "begin")
_ZOMBIE = ("begin",)
_BACK = (_PUT_BACK, "all tables are put back")

# What is said of a hole stands in the review that its letter names: T of the second hostile
# reading, N of the first simulation, S of this one.
HOLES: tuple[Hole, ...] = (
    _hole("T1", ("phantom, ", "twice"), {"topic created anew", *_ZOMBIE}),
    _hole("T2", ("twice",), *({each, *_ZOMBIE} for each in _BACK)),
    _hole("T4", ("an update is undone", "a neighbour changed"), {_UPDATE}),
    _hole("T6", ("no way out, CommitUnknown",), *({each, *_ZOMBIE} for each in _BACK)),
    _hole("T9", ("verify is green over what runs refuse",), *({each} for each in _OTHER_LOG)),
    _hole("T10", ("verify is green, though rows have vanished",), {_ROTTEN}),
    _hole("T12", ("a window is narrower",), {"backfill"}),
    _hole(
        "T13",
        (
            *("missing", "lost in silence", "a row is gone"),
            *("verify is red, accounted", "verify is red, complete"),
        ),
        *_QUARANTINE,
    ),
    _hole(
        "T14",
        ("missing", "in quarantine and in the table", "verify is red"),
        {"the schema changes", *_ZOMBIE},
    ),
    _hole(
        "T15",
        ("missing", "verify is red, tiled", "verify is red, complete"),
        *({told, each} for told in _TOLD for each in (*_LOST, _RECOVER)),
    ),
    _hole(
        "T16",
        ("lost, though Kafka holds it",),
        *({less, each} for less in (_ROTTEN, _LEFT_OUT) for each in (*_LOST, _PUT, _RECOVER)),
    ),
    _hole("T17", ("a neighbour changed",), {"the schema changes", "replay"}),
    _hole("M2", ("an erased record is live in quarantine",), {"others delete a row"}),
    _hole(
        "N1",
        ("twice", "an erased row is back", "verify is red, no phantom"),
        *({"the data table is cloned", e} for e in (*_LOST, _RECOVER)),
    ),
    _hole(
        "N2",
        ("no way out, TableRefused", "no way out, ResetNeeded"),
        *({each, back} for each in (*_OTHER_LOG, "topic deleted") for back in (*_BACK, *_LESS)),
    ),
    _hole("N3", ("no way out, TableRefused",), *({_RESTORED, each} for each in _LOST)),
    _hole("N4", ("verify is red", "batches that do not tile"), *_OFFSETS),
    _hole("N5, N7", ("verify is red, no phantom",), *_LOGS),
    _hole("N6", ("verify is red, complete",), _CLONED),
    _hole("N8", ("phantom, no record there",), {"brokers put back"}, {"an unclean election"}),
    _hole("N9", ("wrong value", "twice", "verify is red, accounted"), {_LEFT_OUT}),
    _hole(
        "N10",
        ("a row is gone", "in quarantine and in the table", "missing", "verify is red"),
        {"the log cleaner comes", *_ZOMBIE},
        {"retention deletes", *_ZOMBIE},
    ),
    _hole("N11", ("verify is red",), {_RESTORED, *_ZOMBIE}),
    _hole(
        "S1",
        ("verify is red, no phantom",),
        *({back, each} for back in (*_BACK, _RESTORED) for each in _RESETS),
    ),
    _hole("S2", ("an erased row is back",), _CLONED),
    _hole(
        "S3",
        ("a row is gone", "lost in silence"),
        *({each, less} for each in _GONE for less in _LESS),
    ),
    _hole(
        "S4",
        ("no way out, OffsetsDamaged",),
        *({each, "others restore the offsets table"} for each in ("drop", _LEFT_OUT)),
    ),
    _hole("S5", ("exception OSError",), {"others restore the offsets table"}, {_RECOVER}),
    _hole("S6", ("exception TableNotFoundError",), {"the data table is dropped", *_ZOMBIE}),
    # The mirror writes an old topic's cursor for the new one of its name.
    _hole("S7", ("missing",), {"topic created anew", "reset", *_ZOMBIE}),
    # A RESTORE to a RESTORE, from before a reset.
    _hole("S8", ("missing",), *({_RESTORED, each} for each in _RESETS)),
    _hole("S9", ("lost in silence",), {"others restore the offsets table", "retention deletes"}),
)


def known_as(history: History, finding: Finding) -> str:
    """The name of the hole that a history has fallen into; empty for a new one."""
    for hole in HOLES:
        if finding.kind.startswith(hole.kinds) and any(e <= history.names for e in hole.needs):
            return hole.name
    return ""
