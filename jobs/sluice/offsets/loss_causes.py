"""Loss causes: why offsets are not read, and who decided it. Stored in loss rows for ever.

The table stores the text; decisions use the value. Never change a text here: stored rows would no
longer parse as what they were. An unknown text is kept as it is and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LossKind(StrEnum):
    """The kind of a loss. The values are parts of stored texts."""

    RETENTION = "retention or deleted records"
    RETENTION_AFTER_PLANNING = "retention or deleted records, after planning"
    BEFORE_FIRST_PLAN = "gone before the first batch was planned"
    BEFORE_NEW_PARTITION = "gone before the new partition was first seen"
    BEFORE_RECOVERY = "gone before a recovery: why it was not read is no longer known"
    WITH_TABLE = "gone with the data table, and no longer in the log"
    LEFT_BEHIND = "not in the copy of the table that a recovery went on with"
    PRESENT = "present in the log but not in the table"
    ABSENT = "not in the log, and the topic does not compact"
    DELETED = "below the log start: what was there can no longer be told"
    BEYOND = "beyond the end of the log"
    NOT_READ_AGAIN = (
        "below the log start: what was there can no longer be told;"
        " not read again, the rows that were there stay"
    )
    GONE = "the topic is gone: what was there can no longer be told"
    UNCOUNTED = "not counted: rows of it may be in the table"
    SKIPPED = "skipped"
    DROPPED = "dropped from quarantine"
    ASIDE_GONE = "gone from quarantine, and from the log"
    UNKNOWN = "unknown"
    """A stored text of another form; the whole text is the reason."""


# What a policy may take as lost. Kafka holds what is PRESENT, and the table may hold what is
# UNCOUNTED: only a person can give those up.
BY_POLICY = frozenset({LossKind.ABSENT, LossKind.DELETED, LossKind.BEYOND, LossKind.GONE})
BY_PERSON = frozenset({LossKind.PRESENT, LossKind.UNCOUNTED})

# The words before the person who decided. For a gap the actor may be `on_data_loss`.
_ACCEPTED_BY = "; accepted by "
_DECIDED = {
    LossKind.SKIPPED: " by ",
    LossKind.DROPPED: " by ",
    LossKind.ASIDE_GONE: _ACCEPTED_BY,
    LossKind.UNCOUNTED: _ACCEPTED_BY,
    LossKind.LEFT_BEHIND: _ACCEPTED_BY,
}
_ACCEPTED = dict.fromkeys(
    (LossKind.PRESENT, LossKind.ABSENT, LossKind.DELETED, LossKind.BEYOND, LossKind.GONE),
    _ACCEPTED_BY,
)
_BY = {**_DECIDED, **_ACCEPTED}
_WITHOUT_ACTOR = frozenset(LossKind) - {*_DECIDED, LossKind.UNKNOWN}


@dataclass(frozen=True)
class LossCause:
    """Why offsets are not read; `actor` and `reason` say who decided it and why.

    Raises ValueError where kind and actor do not go together.
    """

    kind: LossKind
    actor: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        wrong = self.kind in _DECIDED if self.actor is None else self.kind not in _BY
        if wrong:
            raise ValueError(f"{self.kind}: actor {self.actor!r} does not go with it")

    def __str__(self) -> str:
        # A preview shows a decision before its reason is given.
        return format_cause(self).removesuffix(": ")


def format_cause(cause: LossCause) -> str:
    """The stored text."""
    if cause.kind is LossKind.UNKNOWN:
        return cause.reason or ""
    if cause.actor is None:
        return cause.kind.value
    reason = "" if cause.reason is None else f": {cause.reason}"
    return f"{cause.kind}{_BY[cause.kind]}{cause.actor}{reason}"


def parse_cause(text: str) -> LossCause:
    """Parse a stored text. An actor ends at the first colon followed by a space."""
    if text in _WITHOUT_ACTOR:
        return LossCause(LossKind(text))
    for kind, by in _BY.items():
        if text.startswith(f"{kind}{by}"):
            actor, colon, reason = text.removeprefix(f"{kind}{by}").partition(": ")
            return LossCause(kind, actor, reason if colon else None)
    return LossCause(LossKind.UNKNOWN, reason=text)
