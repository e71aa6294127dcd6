"""A world with a state table that a test plays by hand, step by step, and judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sluice.protocol.refresh.making import Followed

from tests.simulation.actions import ACTIONS
from tests.simulation.by_hand import Hand
from tests.simulation.commands import Command
from tests.simulation.history import History
from tests.simulation.judge import Judge
from tests.simulation.oracle import Finding
from tests.simulation.play import a_world
from tests.simulation.settings import PLAIN_SETTINGS
from tests.simulation.state_finale import state_finale
from tests.simulation.world import STATE, World
from tests.worlds.memory_log import Record

IN_ONE, ORDERED, FILLED = (PLAIN_SETTINGS * each for each in (1, 2, 3))
"""Settings: one partition, and a state by offsets, by `seq`, with placeholders."""
THREE_PARTITIONS = 1


class States(Hand):
    """A world with a state table, whose every step is judged."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.judge = Judge(world)
        self.found: list[Finding] = []

    def put(self, key: int, seq: int = 0, name: str = "a", partition: int = 0) -> None:
        """An event of a key."""
        event = {"id": key, "extra": 1, "seq": seq, "name": name}
        self._produce(json.dumps(event).encode(), b"k%d" % key, partition)

    def put_tombstone(self, key: int) -> None:
        """A tombstone of a key."""
        self._produce(None, b"k%d" % key, 0)

    def put_without_key(self) -> None:
        """An event without a key."""
        self._produce(json.dumps({"seq": 1, "name": "a"}).encode(), None, 0)

    def _produce(self, value: bytes | None, key: bytes | None, partition: int) -> None:
        now = int(self.world.clock.now().timestamp() * 1000)
        self.world.kafka.produce("t", partition, [Record(value, key, now, ())], None)

    def lands(self) -> None:
        """The events become a version of the data table; the state does not follow."""
        work = self.world.pipeline().plan(f"{len(self.world.told)} {self.world.clock.now()}", "me")
        pipeline = self.world.pipeline()
        with pipeline.open_lake(pipeline.span(work)) as lake:
            pipeline.ingest(work, lake)
        pipeline.settle("settled", "me")

    def comes(self, key: int, seq: int = 0, name: str = "a") -> None:
        """An event of a key becomes a version of the data table, and the state follows it."""
        self.put(key, seq, name)
        self.lands()
        self.follows()

    def begins_anew(self) -> None:
        """The topic is created anew, and the pipeline goes on with it."""
        self.acts("topic created anew")
        self.does("reset", "--to-earliest")

    def loses_its_plans(self) -> None:
        """A recovery no longer finds the batches that were read so far."""
        self.forgets_its_log()
        self.acts("the offsets table is dropped")
        self.does("recover")

    def asks(self, name: str) -> Any:
        """A refresh or a rebuild: what it returned, or its problem. It is judged."""
        self.judge.before()
        done = self.world.carry_out(Command((name,), name))
        self.judged()
        return done.problem or done.result

    def judged(self) -> None:
        """Ask the judge what is wrong now."""
        if found := self.judge.after():
            self.found.append(found)

    def follows(self) -> list[Followed]:
        """A refresh that ends well, and is right."""
        found: list[Followed] = self.asks("refresh")
        assert isinstance(found, list), found
        assert not self.found
        return found

    def acts(self, name: str, *draws: int) -> None:
        """An action of the simulator, without its process judged."""
        filled = (*draws, 0, 0, 0, 0)
        self.judge.before()
        self.world.done = None
        ACTIONS[name].act(self.world, (filled[0], filled[1], filled[2], filled[3]))
        self.judged()

    def ends_well(self) -> None:
        """Whatever was done, the messages lead to a state that is right."""
        self.does("catch up")
        assert not self.found
        assert state_finale(self.judge, self.world) is None

    def names(self) -> dict[int, str | None]:
        """The state's keys, and their names; those that are deleted without."""
        rows = self.world.reader.read(self.world.table(STATE)).rows
        return {row["id"]: None if row["_deleted"] else row["name"] for row in rows}


def state_worlds(setting: int) -> Iterator[States]:
    """One world, as long as it is asked for."""
    with a_world(History("states", setting)) as world:
        yield States(world)


def in_two_versions(states: States) -> None:
    """Key 1 has two events, each a version; key 2 has one. The state has followed both."""
    states.put(1, 1, "a")
    states.comes(2, 2, "b")
    states.comes(1, 3, "c")
    assert states.names() == {1: "c", 2: "b"}
