"""Tickets: the numbers under which attempts add a batch's rows to the quarantine table. Pure.

They are versions of a Delta transaction id of that table, of which each batch has a stretch: what
comes with a number that is not above the stored one is refused. The last number of a stretch closes
the batch, and with it all batches before it. An attempt takes an even number; if it gives the batch
up, and so will never commit it, it says so with the odd number behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sluice.offsets.batches import Batch

_STRETCH = 2**20
# After this, no rows of a sequence can be added: its generation is closed.
FENCED = 2**63 - 1


@dataclass(frozen=True)
class Ticket:
    """The right to add a batch's rows, unless another attempt has added some since.

    All rows have `at` as their `quarantined_at`: by that the data commit names the attempt.
    """

    app_id: str
    number: int
    at: datetime

    @property
    def given_up(self) -> int:
        """The number that says that this attempt will never commit the batch."""
        return self.number + 1


@dataclass(frozen=True)
class SetAside:
    """What a data commit says of its batch's quarantine: how many rows, and of which attempt.

    `at` is None where it has none.
    """

    records: int
    at: datetime | None = None


NOTHING_ASIDE = SetAside(0)


@dataclass(frozen=True)
class JudgedRecords:
    """How many records of a batch an attempt judged, and how many of them are undecodable.

    Records that the spec's `only` leaves out are not judged.
    """

    records: int
    undecodable: int


def closing_number(batch: int) -> int:
    """The last number of a batch, by its own number: after it, none of its rows can be added."""
    return (batch + 1) * _STRETCH - 1


def last_closed(number: int) -> int:
    """The last batch, by its own number, that a number closes; 0 where it closes none."""
    return max(0, (number + 1) // _STRETCH - 1)


def closes(number: int) -> bool:
    """Whether a number is the last one of a batch."""
    return number % _STRETCH == _STRETCH - 1


def next_ticket(batch: Batch, stored: int, now: datetime, latest: datetime | None) -> Ticket | None:
    """The ticket after a stored number; None where the batch is closed.

    `latest` is the newest moment that rows of the batch have: no two attempts share one.
    """
    number = max(stored, batch.number * _STRETCH - 1) + 1
    number += number % 2
    if number > closing_number(batch.number):
        return None
    at = now if latest is None else max(now, latest + timedelta(microseconds=1))
    return Ticket(batch.sequence.quarantine_app_id, number, at)


def has_given_up(batch: Batch, stored: int) -> bool:
    """Whether the last attempt that added rows of a batch will never commit it."""
    return batch.number * _STRETCH <= stored < closing_number(batch.number) and stored % 2 == 1
