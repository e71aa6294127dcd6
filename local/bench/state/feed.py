"""The feed: a topic of changes of keys, and what a state table must hold after each turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from local.bench.records import PARTITIONS, send
from local.embedded.topics import create_topic

SCHEMA = "id BIGINT, seq BIGINT, name STRING, amount DOUBLE, op STRING"
# Shares of the changes.
INSERTED, DELETED = 0.10, 0.05
_SEED = 20_131_124

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Load:
    """So many keys, and then so many changes a turn.

    The keys of changes are drawn uniformly, or as Zipf has it: the k-th as often as 1/k.
    """

    keys: int
    changes: int
    skewed: bool = False

    def __str__(self) -> str:
        drawn = "skewed" if self.skewed else "uniform"
        return f"{self.changes:,} changes, {drawn}, into {self.keys:,} keys"


@dataclass
class Feed:
    """Turn 0 inserts all keys; each later turn changes some. A turn is produced when it is needed.

    `newest` has the order of the newest change by key, after the last turn.
    """

    bootstrap: str
    topic: str
    load: Load
    turns: int = 0
    records: int = 0
    newest: Numbers = field(default_factory=lambda: np.zeros(0, np.int64))

    def create(self) -> None:
        """The topic, empty; a key is always in the same partition."""
        create_topic(self.bootstrap, self.topic, PARTITIONS, {"retention.ms": "-1"})

    def produce_until(self, turn: int) -> None:
        """Produce what lacks up to this turn and with it."""
        while self.turns <= turn:
            keys = self._keys_of_turn()
            orders = np.arange(self.records, self.records + len(keys))
            self._note(keys, orders)
            self._send(keys, orders)
            self.turns += 1

    @property
    def state(self) -> tuple[int, int]:
        """How many rows the state has, and the sum of their orders."""
        return len(self.newest), int(self.newest.sum())

    def _keys_of_turn(self) -> Numbers:
        if self.turns == 0:
            return np.arange(self.load.keys)
        random = np.random.default_rng(_SEED + self.turns)
        drawn, known = random.random(self.load.changes), len(self.newest)
        keys = (known**drawn - 1 if self.load.skewed else known * drawn).astype(np.int64)
        new = random.random(self.load.changes) < INSERTED
        keys[new] = np.arange(known, known + new.sum())
        return keys

    def _note(self, keys: Numbers, orders: Numbers) -> None:
        size = max(len(self.newest), int(keys.max()) + 1)
        self.newest = np.resize(self.newest, size)
        # Orders grow, so the last one of a key is its newest.
        self.newest[keys] = orders
        self.records += len(keys)

    def _send(self, keys: Numbers, orders: Numbers) -> None:
        deleted = np.random.default_rng(_SEED - self.turns).random(len(keys)) < DELETED
        deleted &= self.turns > 0
        for partition in range(PARTITIONS):
            there = keys % PARTITIONS == partition
            changes = _changes(keys[there], orders[there], deleted[there])
            send(self.bootstrap, self.topic, 1, changes, first=partition)


def _changes(
    keys: Numbers, orders: Numbers, deleted: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, str]]:
    for key, order, gone in zip(keys.tolist(), orders.tolist(), deleted.tolist(), strict=True):
        value = (
            f'{{"id": {key}, "seq": {order}, "name": "customer {order % 99_991}",'
            f' "amount": {order % 1_000_003 / 100}, "op": "{"d" if gone else "u"}"}}'
        )
        yield str(key), value
