"""The parcels of records that a soak produces, by the seed alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

PLAIN_EVERY, TRANSACTION_EVERY = 0.5, 1.0
PLAIN_SHARE = 0.6
# How a transaction ends. `vanish`: its producer dies, and the broker aborts it when it times out;
# `restart`: its producer dies and comes back under the same name, which aborts it at once.
ENDINGS = {"commit": 65, "abort": 23, "vanish": 6, "restart": 6}
MALFORMED = b'{"id": broken'
MALFORMED_PARCELS, MALFORMED_RECORDS = 0.01, 0.1
TOMBSTONES = 0.01

Record = tuple[int, bytes | None]


@dataclass(frozen=True)
class Parcel:
    """Records that are sent together: `ending` of their transaction, or none of it.

    `open_for` is how long the transaction stays open when they have been sent.
    """

    at: float
    records: int
    dice: int
    ending: str = ""
    open_for: float = 0.0

    def contents(self, partitions: int) -> Iterator[Record]:
        """Partition and value of each record."""
        dice = Random(self.dice)
        malformed = dice.random() < MALFORMED_PARCELS
        for number in range(self.records):
            partition = dice.randrange(partitions)
            if malformed and dice.random() < MALFORMED_RECORDS:
                yield partition, MALFORMED
            elif dice.random() < TOMBSTONES:
                yield partition, None
            else:
                value = {"id": self.dice * 1000 + number, "note": "x" * dice.randrange(80)}
                yield partition, json.dumps(value).encode()


def plain(seed: int, seconds: float, rate: int) -> Iterator[Parcel]:
    """The parcels of the producer without transactions."""
    dice = Random(f"{seed}: plain")
    for number in range(int(seconds / PLAIN_EVERY)):
        size = round(rate * PLAIN_SHARE * PLAIN_EVERY * dice.uniform(0.2, 1.8))
        yield Parcel(number * PLAIN_EVERY, size, dice.randrange(2**40))


def transactions(seed: int, seconds: float, rate: int) -> Iterator[Parcel]:
    """The parcels of the transactional producer: each is one transaction."""
    dice = Random(f"{seed}: transactions")
    for number in range(int(seconds / TRANSACTION_EVERY)):
        size = round(rate * (1 - PLAIN_SHARE) * TRANSACTION_EVERY * dice.uniform(0.2, 1.8))
        ending = dice.choices(list(ENDINGS), list(ENDINGS.values()))[0]
        at, content = number * TRANSACTION_EVERY, dice.randrange(2**40)
        yield Parcel(at, size, content, ending, round(dice.uniform(0, 0.8), 2))
