"""A world that a test plays by hand, step by step."""

from __future__ import annotations

import json

from deltalake import DeltaTable
from sluice.errors import SluiceError
from sluice.operations.quarantine.recover_rows import (
    QuarantineRecovery,
    preview_quarantine_recovery,
)
from sluice.operations.recover.recover import preview_recovery
from sluice.operations.recover.recovery import Recovery

from tests.simulation.commands import Command
from tests.simulation.delta_tables import Row
from tests.simulation.processes import Process
from tests.simulation.restores import copy_rows
from tests.simulation.told import read_tables
from tests.simulation.world import TABLES, World
from tests.worlds.memory_log import Record

BROKEN = b"{bad"


class Hand:
    """A world that a test plays by hand."""

    def __init__(self, world: World) -> None:
        self.world = world

    def does(self, *words: str) -> None:
        done = self.world.carry_out(Command(words))
        assert done.green, f"{words}: {done.problem}"

    def refused(self, *words: str) -> SluiceError:
        problem = self.world.carry_out(Command(words or ("run",))).problem
        assert isinstance(problem, SluiceError), problem
        return problem

    def produce(self, *values: int | bytes) -> None:
        made = [e if isinstance(e, bytes) else json.dumps({"id": e}).encode() for e in values]
        now = int(self.world.clock.now().timestamp() * 1000)
        self.world.kafka.produce("t", 0, [Record(each, b"k", now, ()) for each in made], None)

    def previews_recovery(self) -> Recovery:
        """What `recover` shows without --execute."""
        pipeline = self.world.pipeline()
        return preview_recovery(pipeline.resources, "", pipeline.origin("run", "somebody"))

    def previews_quarantine(self) -> QuarantineRecovery:
        """What `quarantine recover` shows without --execute."""
        return preview_quarantine_recovery(self.world.pipeline().resources)

    def stops_at(self, point: str, *words: str, nth: int = 1) -> Process:
        """A command, else a run, that stands still where it reaches a step for the nth time."""
        done = self.world.begin_process(Command(words or ("run",)), 0)
        while done is None:
            (process,) = self.world.frozen
            nth -= process.point == point
            if not nth:
                return process
            done = self.world.go_on(process, 0)
        raise AssertionError(f"it ended before {point!r}")

    def goes_up_to(self, point: str, process: Process) -> None:
        """A command that stands still goes on, and stands still again at a later step."""
        while process.point != point:
            assert self.world.go_on(process, 0) is None, f"it ended before {point!r}"

    def goes_on(self, process: Process) -> None:
        """A command that stands still ends, and well."""
        done = self.world.go_on(process, None)
        assert done is not None
        assert done.green, f"{process.command}: {done.problem}"

    def table(self, name: str = "trips") -> DeltaTable:
        return DeltaTable(self.world.table(name))

    @property
    def quarantine(self) -> DeltaTable:
        return self.table("trips__quarantine")

    def others_commit(
        self, count: int, name: str = "trips", operation: str = "OPTIMIZE", length: int = 8
    ) -> int:
        """Commits that change no file, as fast as they can be written; returns the last version."""
        version, log = self.table(name).version(), self.world.table(name) / "_delta_log"
        for each in range(version + 1, version + count + 1):
            words = self.world.chance.name().ljust(length, "w")
            info = {"timestamp": each, "operation": operation, "words": words}
            (log / f"{each:020d}.json").write_text(json.dumps({"commitInfo": info}) + "\n")
        return version + count

    def copies_rows(self, *without: int) -> None:
        """The data table becomes a copy of its rows, without some offsets."""
        copy_rows(self.world.table("trips"), *without)

    def forgets_its_log(self) -> None:
        """Log cleanup: all commits of the data table but one of a property are gone."""
        self.table().alter.set_table_properties({"delta.logRetentionDuration": "interval 9 days"})
        self.table().create_checkpoint()
        *old, _ = sorted((self.world.table("trips") / "_delta_log").glob("*.json"))
        for each in old:
            each.unlink()

    def versions(self) -> list[int]:
        """How often each table was written."""
        return [self.table(each).version() for each in TABLES]

    def rows(self) -> list[int]:
        """The offsets of the data table's rows."""
        return sorted(self.table().to_pyarrow_table()["_offset"].to_pylist())

    def has_a_filled_gap(self, second: int | bytes) -> None:
        """Offset 2 was left out by the reader, accepted as a gap, and read again."""
        self.world.left_out += [2, 2, 2]
        self.produce(0, second, 2, 3)
        self.world.carry_out(Command(("run",)))
        self.world.left_out.clear()
        self.does("verify", "--accept-gap", "t[0] [2, 3)")
        self.does("reprocess", "--range", "t[0] [2, 3)")
        self.does("run")

    def is_exact(self, *lost: int) -> None:
        """Nothing is wrong, and just these offsets are told as lost."""
        self.does("run")
        assert not self.world.pipeline().verify(lambda *_: None).violations
        told = {at for e in self.told_losses() for at in range(e["start_offset"], e["end_offset"])}
        assert told == {*lost}

    def told_losses(self) -> list[Row]:
        """The loss rows of the offsets table."""
        return [e for e in read_tables(self.world).offsets.rows if e["event"] == "loss"]
