"""The operator: does what the product's messages say, and decides where they leave a decision."""

from __future__ import annotations

import re
import shutil

from sluice.errors import (
    BatchInDoubt,
    DataLost,
    PreviewOutdated,
    RowsErased,
    SluiceError,
    SpecError,
    StateRefused,
    StateStopped,
    TableRefused,
    TooManyQuarantined,
)
from sluice.moves import YOUR_WORDS, Move
from sluice.offsets.notation import parse_scope
from sluice.offsets.ranges import TopicPartition

from tests.simulation.asked import is_in
from tests.simulation.books import Key
from tests.simulation.commands import Command
from tests.simulation.delta_tables import Row
from tests.simulation.restores import restore
from tests.simulation.rows import is_like, key_of
from tests.simulation.world import STATE, Done, World

# What is said where only the consumer group knows the pipeline: delete it, among others.
_GROUP = "but consumer group"
_LOOKS = frozenset({"status", "history", "list", "plan", "check", "quarantine list", "verify"})


def leading_on(problem: SluiceError) -> list[Move]:
    """The moves of a refusal that change something."""
    return [
        each
        for each in problem.moves
        if each.command not in _LOOKS or "--accept-gap" in each.arguments
    ]


def command_of(move: Move, reason: str) -> Command:
    """A move as the operator types it: with a reason, and for this pipeline."""
    words = [each for each in move.arguments if each not in ("trips", "PIPELINE", "--execute")]
    if "--reason" in words:
        at = words.index("--reason")
        del words[at : at + 2]
    words = [each for each in words if each != YOUR_WORDS]
    if move.command == "reset" and not words:
        # The message leaves it open where to.
        words = ["--to-earliest"]
    return Command((*move.command.split(), *words), reason)


def follow(world: World, draw: int = 0) -> Done | None:
    """Do what the last refusal says. Returns how that ended; None where nothing is to be done."""
    problem = world.refusal
    if problem is None:
        return None
    if isinstance(problem, BatchInDoubt):
        return _looks_at_rows(world, problem)
    if _decides(world, problem):
        return _do(world, Command(_once_more(world, problem), f"reason {len(world.told)}"))
    if isinstance(problem, StateStopped):
        _says_in_the_spec(world, problem)
    if isinstance(problem, StateRefused) and "Move it away" in str(problem):
        shutil.rmtree(world.table(STATE))
        world.tell("the operator moves away what is in the state table's place")
    if moves := leading_on(problem):
        return _do(world, command_of(moves[draw % len(moves)], f"advised {len(world.told)}"))
    return None


def _says_in_the_spec(world: World, problem: StateStopped) -> None:
    """What orders the rows of a key, or that rows without one belong to none."""
    if "`unkeyed: ignore`" in str(problem):
        told: dict[str, object] = {"unkeyed": "ignore"}
    else:
        told = {"order_by": ["_timestamp", "_topic"]}
    world.keys = {**world.keys, "state": {**world.keys["state"], **told}}
    world.tell(f"the operator writes {told} into the spec's state")


def _looks_at_rows(world: World, doubt: BatchInDoubt) -> Done:
    """Whether a batch's rows are what was to be read; if not, it is undone, as the message says."""
    closing, reset = doubt.moves
    (name,) = re.findall(r"_batch = '(.*?)'", str(doubt))
    rows = [row for row in world.reader.read(world.table("trips")).rows if row["_batch"] == name]
    if all(_is_right(world, row) for row in rows):
        return _do(world, command_of(closing, f"as it should be {len(world.told)}"))
    (version,) = re.findall(r"RESTORE the data table to version (\d+)", str(doubt))
    restore(world, "trips", int(version))
    return _do(world, command_of(reset, f"read by name {len(world.told)}"))


def _is_right(world: World, row: Row) -> bool:
    return any(
        is_like(row, each, dropped=world.has_been_loose)
        for each in world.books.ever.get(key_of(row), ())
    )


def _decides(world: World, problem: SluiceError) -> bool:
    """What the operator decides, in the spec or about the group; whether anything."""
    if isinstance(problem, DataLost) and world.keys.get("on_data_loss") != "record":
        world.keys = {**world.keys, "on_data_loss": "record"}
    elif isinstance(problem, TooManyQuarantined):
        world.keys = {**world.keys, "quarantine": {"max_ratio": 1.0}}
    elif isinstance(problem, TableRefused) and _GROUP in str(problem):
        for group in list(world.kafka.groups):
            world.kafka.forget(group)
        # As it is new, they say, nothing was erased.
        world.erased.clear()
        world.updated.clear()
    elif isinstance(problem, SpecError):
        world.keys = world.setting.spec()
    else:
        return False
    world.tell(f"the operator decides, for {type(problem).__name__}")
    return True


def _once_more(world: World, problem: SluiceError) -> tuple[str, ...]:
    """What is run again: what was refused, where it reads other batches than a run does."""
    again = world.refused if isinstance(problem, TooManyQuarantined) else None
    if again and again.name in ("quarantine", "backfill", "reprocess"):
        return again.words
    return ("run",)


def _do(world: World, command: Command) -> Done:
    world.tell(f"as advised: sluice {command}")
    if "--bring-back-erased" in command.words:
        _lets_come_back(world, command)
    done = world.carry_out(command)
    if isinstance(done.problem, RowsErased):
        _lets_come_back(world, command)
        world.tell("the operator lets erased rows come back")
        done = world.carry_out(command.also("--bring-back-erased"))
    if isinstance(done.problem, PreviewOutdated):
        done = world.carry_out(Command(command.words, f"again {len(world.told)}"))
    return done


def _lets_come_back(world: World, command: Command) -> None:
    if "recover" in command.words[:2]:
        # Some come back, where the cursor has gone back; the others stay away.
        world.let_go.update([*world.erased, *world.updated])
    for key in [each for each in world.erased if _comes_back(world, command, each)]:
        world.erased.discard(key)
    for key in [each for each in world.updated if _comes_back(world, command, each)]:
        del world.updated[key]


def _comes_back(world: World, command: Command, key: Key) -> bool:
    """Whether a command reads it again: not of another topic, nor what Kafka has lost since."""
    scopes = [parse_scope(each) for each in command.options().get("--topic", [])]
    at = TopicPartition(world.books.names.get(key.topic_id, ""), key.partition)
    named = not scopes or any(at in each for each in scopes)
    ranges = command.options().get("--range", [])
    among = not ranges or is_in(ranges, at.topic, at.partition, key.offset)
    return named and among and world.books.content(key) is not None
