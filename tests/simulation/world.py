"""The world of a history: Kafka, the warehouse, the clock, and what was done so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sluice.broker.client_settings import ClientSettings
from sluice.errors import SluiceError
from sluice.failpoints import reaching
from sluice.offsets.notation import parse_range
from sluice.offsets.ranges import OffsetRange
from sluice.pipeline import Pipeline
from sluice.progress.resources import PipelineResources
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

from tests.simulation.books import Books, Content, Key
from tests.simulation.commands import Command, carry_out
from tests.simulation.delta_tables import Reader
from tests.simulation.own_time import OwnChance, OwnClock
from tests.simulation.processes import Process, reached
from tests.simulation.settings import Setting
from tests.worlds.memory_log import MemoryCluster, MemoryKafka, MemoryRecord, State, Transaction
from tests.worlds.written_lake.engine import WrittenEngine
from tests.worlds.written_lake.records import Record

TABLES = ("trips", "trips__quarantine", "trips__offsets")
STATE = "trips__state"


@dataclass(frozen=True)
class Done:
    """How a command ended: what it returned, or the problem. `whole`: nobody came in between."""

    command: Command
    problem: BaseException | None = None
    result: object = None
    whole: bool = True

    @property
    def green(self) -> bool:
        """Whether the product said that all is well."""
        return self.problem is None


@dataclass
class People:
    """What people changed in the data table, by place.

    Of what is `let_go` nothing is expected: a row that somebody changed while it was to be read
    again.
    """

    erased: set[Key] = field(default_factory=set)
    let_go: set[Key] = field(default_factory=set)
    updated: dict[Key, Content] = field(default_factory=dict)

    def copy(self) -> People:
        """As it is now."""
        return People(set(self.erased), set(self.let_go), dict(self.updated))


@dataclass
class World:
    """Everything that a history changes."""

    folder: Path
    setting: Setting
    kafka: MemoryKafka
    clock: OwnClock
    chance: OwnChance
    keys: dict[str, Any]
    books: Books = field(default_factory=Books)
    reader: Reader = field(default_factory=Reader)
    frozen: list[Process] = field(default_factory=list)
    # What lies aside: copies of table folders, of the brokers' data, open transactions.
    copies: list[Path] = field(default_factory=list)
    broker_copies: list[State] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    people: People = field(default_factory=People)
    # The same as it was at each version of the data table, and in each copy of the tables.
    people_then: dict[int | Path, People] = field(default_factory=dict)
    # What the operator has given up by name.
    accepted: list[OffsetRange] = field(default_factory=list)
    # Places whose rows may be missing, since a table was put back, restored or dropped.
    rolled_back: bool = False
    # Whether both tables that tell of batches have been put back, and no run has ended well since.
    all_put_back: bool = False
    # What was taken away, and no run has ended well since.
    faults: list[str] = field(default_factory=list)
    # The tables that are older copies, and no run has ended well since.
    put_back: set[str] = field(default_factory=set)
    left_out: list[int] = field(default_factory=list)
    dead: list[Process] = field(default_factory=list)
    # Rows that vanished from files without a commit; those that ever did, which an older version of
    # the table lacks again.
    vanished: set[Key] = field(default_factory=set)
    rotted: set[Key] = field(default_factory=set)
    # Whether `extra` was ever not declared, so that rows may lack it.
    has_been_loose: bool = False
    # Partitions, by topic id, whose log was replaced below the cursor; those where nothing tells.
    replaced: set[tuple[str, int]] = field(default_factory=set)
    untold: set[tuple[str, int]] = field(default_factory=set)
    done: Done | None = None
    # The last refusal, and what was refused.
    refusal: SluiceError | None = None
    refused: Command | None = None
    # What a state table may be refused for, and no refresh has ended well since.
    state_reasons: list[str] = field(default_factory=list)
    # Whether rows without a key were ever ignored: the state does not look back.
    has_ignored_unkeyed: bool = False
    told: list[str] = field(default_factory=list)
    produced: int = 0

    @classmethod
    def begin(cls, folder: Path, setting: Setting, seed: str) -> World:
        """A world with empty topics."""
        clock, chance = OwnClock(), OwnChance(seed)
        kafka = MemoryKafka(clock, chance, f"cluster-{chance.name()[:8]}")
        for name, partitions in setting.topics.items():
            kafka.create_topic(name, partitions, compact=name in setting.compacting)
        return cls(folder, setting, kafka, clock, chance, setting.spec())

    @property
    def erased(self) -> set[Key]:
        """The places whose rows people have erased."""
        return self.people.erased

    @property
    def let_go(self) -> set[Key]:
        """The places of which nothing is expected."""
        return self.people.let_go

    @property
    def updated(self) -> dict[Key, Content]:
        """What people made of rows."""
        return self.people.updated

    @property
    def warehouse(self) -> Path:
        """Where the tables are."""
        return self.folder / "warehouse"

    def table(self, name: str) -> Path:
        """A table's folder."""
        return self.warehouse / name

    def pipeline(self) -> Pipeline:
        """A process's own pipeline, with the spec as it is now."""
        client = ClientSettings.from_extra("kafka_default", {"bootstrap.servers": "memory:9092"})
        cluster = MemoryCluster(self.kafka, reached)
        resources = PipelineResources.of(
            PipelineSpec.model_validate(self.keys),
            Warehouse(str(self.warehouse)),
            client,
            cluster,
            clock=self.clock,
            chance=self.chance,
        )

        def read(wanted: OffsetRange) -> list[Record]:
            found = [_read(each) for each in cluster.records(wanted)]
            if self.left_out and found:
                del found[self.left_out.pop() % len(found)]
            return found

        return Pipeline(resources, WrittenEngine(read, self.clock, self.chance, reached))

    def has_accepted(self, key: Key) -> bool:
        """Whether the operator has given this offset up by name."""
        return any(
            each.partition.topic == self.books.names.get(key.topic_id)
            and each.partition.partition == key.partition
            and each.start <= key.offset < each.end
            for each in self.accepted
        )

    def tell(self, text: str) -> None:
        """Say what a step did."""
        self.told.append(text)

    def carry_out(self, command: Command) -> Done:
        """Do it in a process of its own, to the end."""
        done = self._ended(self._process(command), None)
        assert done is not None, "nothing stops it"
        return done

    def begin_process(self, command: Command, points: int) -> Done | None:
        """The same, up to a step of the protocol; None where it stands still there."""
        return self._ended(self._process(command), points)

    def go_on(self, process: Process, points: int | None) -> Done | None:
        """Let a process that stands still go on."""
        self.frozen.remove(process)
        return self._ended(process, points)

    def _process(self, command: Command) -> Process:
        gaps = command.options().get("--accept-gap", [])
        self.accepted += [parse_range(each) for each in gaps]

        def work() -> None:
            process.result = carry_out(self.pipeline(), command)

        process = Process(command, work)
        return process

    def _ended(self, process: Process, points: int | None) -> Done | None:
        if not process.go(points):
            self.frozen.append(process)
            self.tell(f"  stands still at {process.point!r}")
            return None
        problem = process.problem
        self.done = Done(process.command, problem, process.result, process.whole)
        self.refusal = problem if isinstance(problem, SluiceError) else None
        self.refused = process.command
        if problem is not None:
            self.tell(f"  {type(problem).__name__}: {problem}")
        return self.done


def _read(record: MemoryRecord) -> Record:
    return Record(
        record.partition,
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        record.headers,
    )


@contextmanager
def switching() -> Iterator[None]:
    """While this lasts, every step of the protocol may stop its process."""
    with reaching(reached):
        yield
