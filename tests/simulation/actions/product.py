"""What the scheduler and operators ask of the product."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.simulation.actions.registry import action, pick
from tests.simulation.commands import Command
from tests.simulation.history import Draws
from tests.simulation.operator import follow
from tests.simulation.world import World


def _do(world: World, *words: str) -> None:
    command = Command(words, f"reason {len(world.told)}")
    world.tell(f"sluice {command}")
    world.carry_out(command)


@action(70)
def run(world: World, draws: Draws) -> None:
    """A run, to its end."""
    _do(world, "run")


@action(8)
def only_a_plan(world: World, draws: Draws) -> None:
    """The first task of a DAG run, and no more."""
    _do(world, "plan only")


@action(4)
def only_settle(world: World, draws: Draws) -> None:
    """The last task of a DAG run."""
    _do(world, "settle")


_RESETS = (
    ("--to-earliest",),
    ("--to-earliest",),
    ("--to-table",),
    ("--shift-by", "0"),
    ("--shift-by", "-2"),
    ("--to-latest",),
    ("--to-group", "sluice-trips"),
)


@action(16)
def reset(world: World, draws: Draws) -> None:
    """A reset to one of its targets."""
    _do(world, "reset", *pick(_RESETS, draws[0]))


@action(5)
def reset_of_a_topic(world: World, draws: Draws) -> None:
    """A reset of one topic, or some offsets."""
    name = pick(sorted(world.setting.topics), draws[0])
    if draws[1] % 2:
        _do(world, "reset", "--to-earliest", "--topic", name)
    else:
        _do(world, "reset", "--to-offsets", f"{name}[0]={draws[2] % 8}")


@action(3)
def reset_to_a_moment(world: World, draws: Draws) -> None:
    """A reset to a moment of the last hours."""
    moment = world.clock.now() - timedelta(hours=draws[0] % 48)
    _do(world, "reset", "--to-datetime", _text(moment))


@action(3)
def new_cluster(world: World, draws: Draws) -> None:
    """Go on with another cluster."""
    _do(world, "reset", "--to-earliest", "--new-cluster")


@action(6)
def skip(world: World, draws: Draws) -> None:
    """Skip an offset that is still to be read."""
    name = pick(sorted(world.setting.topics), draws[0])
    topic = world.kafka.topics.get(name)
    if topic is None:
        return
    log = topic.partitions[0]
    if log.last_stable_offset > log.log_start:
        offset = log.last_stable_offset - 1 - draws[1] % 2
        _do(world, "reset", "--skip", f"{name}[0]@{max(0, offset)}")


@action(10)
def reprocess(world: World, draws: Draws) -> None:
    """Some offsets again."""
    name = pick(sorted(world.setting.topics), draws[0])
    start = draws[1] % 8
    _do(world, "reprocess", "--range", f"{name}[0] [{start}, {start + 1 + draws[2] % 5})")


@action(6)
def backfill(world: World, draws: Draws) -> None:
    """A window of time again."""
    now = world.clock.now()
    start = now - timedelta(hours=pick((1, 2, 25, 30, 48), draws[0]))
    end = pick((now, now + timedelta(hours=1), now - timedelta(minutes=30)), draws[1])
    _do(world, "backfill", "--from", _text(start), "--to", _text(end))


@action(8)
def replay(world: World, draws: Draws) -> None:
    """What is quarantined again."""
    _do(world, "quarantine", "replay", "--all")


@action(6)
def drop(world: World, draws: Draws) -> None:
    """What is quarantined is given up."""
    _do(world, "quarantine", "drop", "--all")


@action(10)
def recover(world: World, draws: Draws) -> None:
    """The offsets table, from the data table."""
    _do(world, "recover")


@action(2)
def quarantine_recover(world: World, draws: Draws) -> None:
    """What is gone from the quarantine is read again."""
    _do(world, "quarantine", "recover")


@action(6)
def maintain(world: World, draws: Draws) -> None:
    """Maintenance."""
    _do(world, "maintain")


_LOOKS = (
    ("status",),
    ("plan",),
    ("history",),
    ("preview", "--to-earliest"),
    ("preview", "--to-table"),
)


@action(4)
def look(world: World, draws: Draws) -> None:
    """A command that only looks."""
    _do(world, *pick(_LOOKS, draws[0]))


@action(40)
def follow_the_message(world: World, draws: Draws) -> None:
    """Do what the last refusal says, once; where nothing is refused, the next run comes."""
    if follow(world, draws[0]) is None:
        _do(world, "run")


_BEGUN = (
    *(("run",),) * 6,
    ("reset", "--to-earliest"),
    ("reset", "--shift-by", "0"),
    ("reset", "--to-table"),
    ("recover",),
    ("quarantine", "replay", "--all"),
    ("quarantine", "drop", "--all"),
    ("maintain",),
)


@action(30)
def begin(world: World, draws: Draws) -> None:
    """A command that stands still at some step; where three do already, one of them goes on."""
    if len(world.frozen) == 3:
        go_on(world, draws)
    else:
        command = Command(pick(_BEGUN, draws[0]), f"reason {len(world.told)}")
        world.tell(f"sluice {command}, up to a step:")
        # Between its checks and its commit a batch is at the most risk.
        points = draws[1] % 38 if draws[2] % 3 == 0 else 15 + draws[1] % 14
        world.begin_process(command, points)


@action(3)
def begin_a_recovery(world: World, draws: Draws) -> None:
    """A recovery, of the quarantine or of the offsets table, that stands still at some step."""
    if len(world.frozen) < 3:
        command = Command(pick((("quarantine", "recover"), ("recover",)), draws[0]), "begun")
        world.tell(f"sluice {command}, up to a step:")
        world.begin_process(command, draws[1] % 30)


@action(24)
def go_on(world: World, draws: Draws) -> None:
    """A process that stands still goes on, to its end or to a later step; if none does: `begin`."""
    if not world.frozen:
        begin(world, draws)
    else:
        process = pick(world.frozen, draws[0])
        world.tell(f"sluice {process.command} goes on from {process.point!r}")
        world.go_on(process, draws[2] % 30 if draws[1] % 3 == 0 else None)


@action(6)
def kill(world: World, draws: Draws) -> None:
    """A process that stands still ends there."""
    if world.frozen:
        process = world.frozen.pop(draws[0] % len(world.frozen))
        world.dead.append(process)
        world.tell(f"sluice {process.command} is killed at {process.point!r}")


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
