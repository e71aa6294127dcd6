"""The port `Cluster`: of a history drawn at random both tell the same."""

from __future__ import annotations

import random

import pytest

from local.embedded.broker import Broker
from tests.contracts.driver import Driver
from tests.contracts.memory_driver import MemoryDriver
from tests.contracts.questions import at, bounds, explained, fingerprint, offsets, read, state
from tests.contracts.real_driver import RealDriver
from tests.worlds.records import numbered

SEED = 1


@pytest.mark.integration
def test_a_history_drawn_at_random_is_told_alike(broker: Broker) -> None:
    real = RealDriver(broker)
    told = [_told(driver, random.Random(SEED)) for driver in (real, MemoryDriver())]
    real.close()
    assert told[0] == told[1]


def _told(driver: Driver, chance: random.Random) -> list[object]:
    """What the port tells of one topic, after every few things that happen to it."""
    topic, at_work, told = driver.topic(), list[object](), list[object]()
    for number in range(16):
        values = numbered(chance.randint(1, 3), 10 * number)
        act = chance.choice(["produce", "begin", "begin", "write", "commit", "abort", "delete"])
        if act == "produce":
            driver.produce(topic, values)
        elif act == "begin" and len(at_work) < 3:
            at_work.append(driver.begin(topic, values))
        elif act == "write" and at_work:
            driver.write(chance.choice(at_work), topic, values)
        elif act in ("commit", "abort") and at_work:
            transaction = at_work.pop(chance.randrange(len(at_work)))
            driver.end(transaction, topic, commit=act == "commit")
        elif act == "delete" and number % 3 == 0:
            start, _, end = bounds(driver, topic)
            driver.delete_records(topic, chance.randint(start, min(start + 2, end)))
        if number % 8 == 7:
            told.append(_answers(driver, topic))
    return told


def _answers(driver: Driver, topic: str) -> list[object]:
    start, stable, end = bounds(driver, topic)
    wanted = offsets(topic, start, max(start, stable))
    return [
        (start, stable, end),
        explained(driver, topic, (0, end)),
        read(driver, wanted, wanted.after(wanted.first(3))),
        [(each.offset, each.value) for each in driver.cluster.samples([wanted], 5)],
        len(driver.cluster.open_since(state(driver, topic).logs)),
        len(driver.cluster.timestamps({at(topic): start})),
        [fingerprint(driver, topic, each) is None for each in (start, start + 1, end, end + 1)],
    ]
