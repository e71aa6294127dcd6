"""The judge: asks the oracle after every step, and the product's own proof whether it agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from sluice.errors import ResetNeeded, SluiceError, TableRefused
from sluice.offsets.ranges import TopicPartition
from sluice.operations.quarantine.listing import list_quarantine
from sluice.operations.until_complete import proven_until
from sluice.operations.verify.checks import Violation
from sluice.pipeline import Pipeline
from sluice.progress.complete_until import complete_until
from sluice.progress.lane_state import read_unchecked
from sluice.progress.unaltered import check_data_table

from tests.simulation.allowed import is_no_fault
from tests.simulation.asked import asked_again, dropped, narrower, passed_over
from tests.simulation.books import Key
from tests.simulation.delta_tables import versions
from tests.simulation.oracle import (
    Finding,
    closed_aside,
    complete,
    exact,
    lost,
    present,
    receipts,
    strangers,
    tiled,
    twice,
    vouched_for,
)
from tests.simulation.rows import content_of_row, key_of
from tests.simulation.state_judge import StateJudge
from tests.simulation.told import (
    Tables,
    Told,
    beginnings,
    committed_aside,
    cursors,
    opened_at,
    planned_ends,
    read_tables,
    stored,
    waiting,
)
from tests.simulation.world import TABLES, Done, World

# A proof takes as long as a run: not after each one.
_PROVED = 3
_RUNS = ("run", "catch up")
_STRANGE = ("wrong value", "phantom", "twice")


@dataclass
class Judge:
    """Judges one world; remembers what was right before.

    Unless it `proves_refusals`, what hides behind that finding is looked for instead. What is
    `told_for` another record has vanished itself; what was `taken`, others took with a version of
    the tables.
    """

    world: World
    judged: object = None
    green: object = None
    caught_up: bool = False
    before_it: Tables | None = None
    remembered: set[Key] = field(default_factory=set)
    # Those of them that were quarantined.
    aside: set[Key] = field(default_factory=set)
    told_for: set[Key] = field(default_factory=set)
    taken: set[Key] = field(default_factory=set)
    # What recoveries have told as not in a copy: the offsets table alone remembers it.
    left_behind: set[Key] = field(default_factory=set)
    was: list[list[int]] = field(default_factory=list)
    greens: int = 0
    judged_actions: int = 0
    proves_refusals: bool = True

    def __post_init__(self) -> None:
        self.of_state = StateJudge(self.world)

    def before(self) -> None:
        """Look at the tables before a step."""
        world = self.world
        world.books.look(world.kafka)
        self.before_it = read_tables(world)
        if self.before_it.data.version < 0 and self.before_it.offsets.version < 0:
            # Nothing is left that could tell what was there.
            self.remembered = set()
        self.was = self._versions()
        ends = cursors(self.before_it)
        for place in world.replaced & world.books.now.keys():
            shown = world.books.now[place]
            copied = bool(self.before_it.data.rows) and not self.before_it.data.transactions
            if shown.compacts or copied or ends.get(place, 0) <= shown.log.log_start:
                world.untold.add(place)

    def after(self) -> Finding | None:
        """The first thing that is wrong after a step."""
        self.judged_actions += 1
        world = self.world
        world.books.look(world.kafka)
        tables = read_tables(world)
        world.people_then[tables.data.version] = world.people.copy()
        if world.all_put_back:
            # Nothing tells what came after the copy.
            self.remembered &= stored(tables)
            world.all_put_back = False
        if world.done is None:
            self.taken |= stored(self._before()) - stored(tables)
        found = chain(self._findings(tables, world.done), self._complete(tables))
        return next((each for each in found if not is_no_fault(world, each)), None)

    def _findings(self, tables: Tables, done: Done | None) -> Iterable[Finding]:
        if done is not None:
            yield from self._answer(tables, done)
        yield from self.of_state.after(tables, done)
        if tables == self.judged:
            return
        self.judged = tables
        if not self.world.rolled_back:
            yield from twice(tables)
            yield from tiled(tables)
        yield from receipts(tables)
        yield from complete(self.world, tables)

    def _complete(self, tables: Tables) -> Iterable[Finding]:
        """What the product says of the table and of Kafka now."""
        if self.world.done is None or self.world.done.command.name == "refresh":
            return  # It changes nothing of this.
        resources = self.world.pipeline().resources
        try:
            state = resources.kafka.state(resources.spec)
            lane = read_unchecked(resources)
            check_data_table(lane)
            told = complete_until(resources, lane), proven_until(resources, lane, state)
        except SluiceError:
            return
        for moment in filter(None, told):
            yield from present(self.world, tables, moment)

    def _answer(self, tables: Tables, done: Done) -> Iterable[Finding]:
        problem = done.problem
        if problem is not None and not isinstance(problem, SluiceError):
            yield Finding(f"exception {type(problem).__name__}", f"{done.command}: {problem}")
        if not done.command.changes and self._versions() != self.was:
            yield Finding("a look wrote", str(done.command))
        yield from closed_aside(self._before(), tables)
        if done.green and done.command.name == "recover" and _begins_anew(tables):
            # It begins anew, and owes no more of what Kafka holds, or the log cleaner took, than
            # any new pipeline does; nor of batches that only rows told of.
            gone, ends = self.world.books.gone, planned_ends(self._before())
            begun = beginnings(self._before())
            self.remembered &= {
                each
                for each, why in gone.items()
                if why != "compaction"
                and begun.get(each[:2], each.offset) <= each.offset < ends.get(each[:2], 0)
            }
            # Nor does anything tell what the table that is gone had lacked, or without an offsets
            # table what it had.
            self.world.erased.clear()
            self.world.updated.clear()
            self.world.vanished.clear()
        if done.green and done.command.name == "recover":
            self.world.let_go.update(self._told_by_nothing(tables))
            booked = Told.of(tables).booked()
            self.left_behind |= {key for key, why in booked if why.startswith("not in the copy")}
            if "trips" in self.world.put_back and not self._before().offsets.rows:
                # Nor does anything tell what came after an older copy.
                self.remembered &= stored(tables)
        self.world.let_go.update(self._told_instead(tables))
        if not done.whole:
            # Others came in between; no row may be a stranger's for all that.
            yield from vouched_for(self.world, tables)
            return
        if done.green and done.command.name == "reset":
            yield from passed_over(self.world, self._before(), tables, done.command)
        if done.green and done.command.name in _RUNS and self._adopted(tables):
            # It looks at no log: the next run does.
            yield from vouched_for(self.world, tables)
        elif done.green and done.command.name in _RUNS:
            yield from self._green(tables, done.command.name == "catch up")
        elif done.green and done.command.words[:2] == ("quarantine", "replay"):
            yield from self._neighbours(tables)
            yield from self._read_again(tables, done)
        elif done.green and done.command.name in ("backfill", "reprocess"):
            yield from self._read_again(tables, done)
        elif done.green and done.command.words[:2] == ("quarantine", "drop"):
            yield from dropped(self._before(), tables)
        elif self.proves_refusals and isinstance(problem, ResetNeeded | TableRefused):
            yield from self._proof_of(tables)

    def _told_by_nothing(self, tables: Tables) -> set[Key]:
        """Records without a row where only a copy's rows told a recovery what was there."""
        before = self._before()
        same = before.offsets.rows and before.offsets.table_id == tables.offsets.table_id
        if same:
            return set()
        if before.data.landed:
            return self.left_behind - stored(tables)
        ends = opened_at(tables)
        read = {
            Key(shown.topic_id, shown.partition, offset)
            for shown in self.world.books.now.values()
            for offset in shown.records
            if offset < ends.get((shown.topic_id, shown.partition), 0)
        }
        return read - stored(tables) - committed_aside(tables)

    def _told_instead(self, tables: Tables) -> Iterable[Key]:
        """Quarantined records that are gone, where one that vanished was just told in their place.

        Which of a batch's rows it was, nothing tells where others lack without a trace.
        """
        booked = {*Told.of(tables).booked()} - {*Told.of(self._before()).booked()}
        told_for = {
            key
            for key, reason in booked
            if key in self.world.vanished and reason.startswith("gone from quarantine")
        }
        self.told_for |= told_for
        instead = Counter((key.topic_id, key.partition) for key in told_for)
        known = stored(tables) | {key for key, _ in booked} | self.world.vanished
        for place, told in instead.items():
            gone = {e for e in self.remembered - known if (e.topic_id, e.partition) == place}
            yield from islice(sorted(gone, key=lambda each: each.offset), told)

    def _adopted(self, tables: Tables) -> bool:
        """Whether a run has landed what was planned before, and no more, as a log was replaced."""
        if not self.world.replaced or tables.data.version == self._before().data.version:
            return False
        before, now = (
            [row for row in each.offsets.rows if row["event"] == "planned"]
            for each in (self._before(), tables)
        )
        return before == now

    def _green(self, tables: Tables, caught_up: bool) -> Iterable[Finding]:
        """A run has ended well, so all must be well."""
        world = self.world
        now = tables, dict(world.books.now), world.keys
        if now == self.green:
            if self._versions() != self.was:
                yield Finding("an idle run wrote", "there was nothing to do")
            if self.caught_up or not caught_up:
                return
        found = [
            *twice(tables),
            *strangers(world, tables),
            *exact(world, tables, caught_up),
            *lost(world, tables),
            *self._forgotten(tables),
        ]
        world.rolled_back = False
        world.put_back.clear()
        # No run looks into the rows of a file.
        world.faults = [each for each in world.faults if each == "rows vanish from a file"]
        self.taken.clear()
        yield from found
        self.green, self.caught_up = now, caught_up
        self.remembered = stored(tables) | (self.remembered & waiting(tables))
        self.aside = committed_aside(tables)
        self.greens += 1
        if self.greens % _PROVED == 0 or caught_up:
            yield from self._proof(tables)

    def _forgotten(self, tables: Tables) -> Iterable[Finding]:
        """What was right before is still there, though Kafka may hold it no more."""
        world = self.world
        told = Told.of(tables)
        there = stored(tables) | waiting(tables) | world.vanished
        for key in self.remembered - there - world.erased - world.let_go:
            why = world.books.gone.get(key)
            if why == "compaction" and key in self.taken:
                continue  # It is to be read again, and the receipt counts it as compacted.
            if self._is_not_promised(key, tables):
                continue
            if why in ("retention", "compaction", "topic") and not told.covers(key):
                yield Finding("a row is gone", f"{key}")

    def _is_not_promised(self, key: Key, tables: Tables) -> bool:
        """Whether it was quarantined, and no receipt knows the quarantine behind a lost offsets
        table; or it is read again once its topic, which is left out, is named.
        """
        place = key[:2]
        if self.world.books.names.get(key.topic_id) not in self.world.keys["topics"]:
            return opened_at(tables).get(place, key.offset + 1) <= key.offset
        known = any(each["event"] in ("planned", "committed") for each in tables.offsets.rows)
        return key in self.aside and not known

    def _proof_of(self, tables: Tables) -> Iterable[Finding]:
        """What a run refuses, `verify` does not call exact, where it is not."""
        world = self.world
        found = [each for each in exact(world, tables) if each.kind.startswith(_STRANGE)]
        if not found or is_no_fault(world, found[0]):
            return
        try:
            verdict = world.pipeline().verify(lambda *_: None)
        except SluiceError:
            return
        if not verdict.violations:
            yield Finding("verify is green over what runs refuse", str(found[0]))

    def _proof(self, tables: Tables) -> Iterable[Finding]:
        """`verify` says "exact" if and only if the oracle does."""
        world, versions_before = self.world, self._versions()
        told = Told.of(tables)
        world.vanished -= {key_of(row) for row in tables.data.rows}
        world.vanished -= {each for each in world.vanished if told.covers(each)} - self.told_for
        pipeline = world.pipeline()
        try:
            verdict = pipeline.verify(lambda *_: None)
        except SluiceError as refused:
            yield Finding("verify refuses", f"{type(refused).__name__}: {refused}")
            return
        except Exception as problem:
            yield Finding(f"exception {type(problem).__name__} of verify", str(problem))
            return
        # Of batches that only rows tell of, nobody knows which rows they had.
        if world.vanished and not verdict.violations and not verdict.unlisted:
            yield Finding("verify is green, though rows have vanished", str(world.vanished))
        lacking = waiting(tables) - stored(tables)
        named = any(self._is_named(each, told) for each in verdict.violations)
        # What others deleted, and VACUUM took: the proof says so, and no more can be known.
        unknown = {key[:2] for key in world.erased if any(e.rows is None for e in verdict.deleted)}
        named |= all(self._places(each) & unknown for each in verdict.violations)
        if verdict.violations and not world.vanished and not lacking and not named:
            first = verdict.violations[0]
            yield Finding(f"verify is red, {first.invariant}", str(first))
        if world.keys["consumer_group"] or not world.vanished:
            yield from self._quarantine(tables, pipeline)
        if self._versions() != versions_before:
            yield Finding("a look wrote", "verify")

    def _places(self, violation: Violation) -> set[tuple[str, int]]:
        """The partitions that a violation may be of, by topic id."""
        partition, names = violation.partition, self.world.books.names
        return {(each, partition.partition) for each in names if names[each] == partition.topic}

    def _is_named(self, violation: Violation, told: Told) -> bool:
        """Whether it is of records that a batch has read and a reset passed over.

        A RESTORE took their rows. The reset has told so; `verify` names what reads them again, and
        the batch lacks them as well.
        """
        if violation.invariant != "complete" or not violation.again:
            return False
        return all(
            told.covers(Key(shown.topic_id, shown.partition, offset))
            for part in violation.again
            for shown in self.world.books.now.values()
            if TopicPartition(shown.topic, shown.partition) == part.partition
            for offset in range(part.start, part.end)
        )

    def _quarantine(self, tables: Tables, pipeline: Pipeline) -> Iterable[Finding]:
        """What readers of the quarantine are shown has no row, and nobody has erased it."""
        listed = list_quarantine(pipeline.resources)
        live = {
            Key(row.topic_id, row.partition.partition, row.offset)
            for group in listed.live
            for row in group.rows
        }
        for key in sorted(live & {key_of(row) for row in tables.data.rows}):
            yield Finding("in quarantine and in the table", str(key))
        for key in sorted(live & self.world.erased):
            yield Finding("an erased record is live in quarantine", str(key))

    def _read_again(self, tables: Tables, done: Done) -> Iterable[Finding]:
        """What is asked for is read again whole, or what is left out is named."""
        planned: Any = done.result
        left_out = [each.offsets for each in planned.plan.left_out]
        asked = asked_again(self.world, done.command, self._before())
        yield from narrower(self.world, self._before(), tables, asked, left_out)

    def _neighbours(self, tables: Tables) -> Iterable[Finding]:
        """A replay changes the records that it was asked about, and no others."""
        before = {key_of(row): content_of_row(row) for row in self._before().data.rows}
        after = {key_of(row): content_of_row(row) for row in tables.data.rows}
        chosen = {key_of(row) for row in self._before().quarantine.rows}
        for key in before.keys() - chosen:
            if key in after and after[key] != before[key]:
                yield Finding("a neighbour changed", f"{key}: {before[key]} -> {after[key]}")

    def _before(self) -> Tables:
        assert self.before_it is not None
        return self.before_it

    def _versions(self) -> list[list[int]]:
        return [list(versions(self.world.table(each))) for each in TABLES]


def _begins_anew(tables: Tables) -> bool:
    """Whether a recovery has left nothing that tells what was read.

    Where nothing has landed in a copy, a fence may tell that a generation began: at the log start.
    """
    told = [
        each
        for each in tables.offsets.rows
        if tables.data.landed
        or each["closed_at"]
        or each["cursor_after"] not in (None, each["log_start_offset"])
    ]
    return tables.data.version < 0 or not (tables.data.rows or told)
