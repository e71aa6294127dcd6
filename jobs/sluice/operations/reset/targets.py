"""Targets of a reset: where the next generation starts, as Kafka's own reset tool names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from sluice.errors import SettingsError
from sluice.offsets.notation import (
    Positions,
    Scope,
    parse_duration,
    parse_moment,
    parse_positions,
    parse_shift,
)
from sluice.offsets.partition_log import Logs
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import Reset
from sluice.operations.reset.held_position import HeldPosition
from sluice.positions.names import TARGETS
from sluice.positions.policies import AtGroup, AtMoment, AtOffsets, Earliest, Latest, Shifted
from sluice.positions.position import (
    Moves,
    Position,
    Questions,
    Situation,
    clip_to_log,
    keep_cursor,
    require_partitions,
)


class ResetQuestions(Questions, Protocol):
    """What a target may ask."""

    def logs(self, cluster_id: str) -> Logs:
        """What Kafka holds now. Raises ResetNeeded when it is not that cluster any more."""


class Target(Protocol):
    """Where a reset leads."""

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """The partitions that go somewhere; the others stay.

        Raises SettingsError or ResetNeeded where it does not apply to the pipeline.
        """


@dataclass(frozen=True)
class ToPosition:
    """A position, as far as Kafka reaches; of some topics or partitions only, where they are named.

    A topic that is gone keeps its place.
    """

    position: Position
    scopes: tuple[Scope, ...] = ()

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """The partitions that the position names. Raises SettingsError for unknown scopes."""
        logs = ask.logs(held.cluster_id)
        _require_scopes(self.scopes, logs)
        found = clip_to_log(self.position.wanted(Situation(logs, held.cursor), ask), logs)
        return {each: moved for each, moved in found.items() if self._concerns(each)}

    def _concerns(self, partition: TopicPartition) -> bool:
        return not self.scopes or any(partition in scope for scope in self.scopes)


@dataclass(frozen=True)
class ToTable:
    """After a RESTORE: where the rows end that the data table still holds. Kafka is not asked."""

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """Every partition."""
        return keep_cursor(held.held)


@dataclass(frozen=True)
class ToIntended:
    """The same cursor as that of a reset which was interrupted. Kafka is not asked."""

    reset: Reset

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """Every partition of that reset."""
        return keep_cursor(self.reset.by_partition)


def _require_scopes(scopes: Iterable[Scope], logs: Logs) -> None:
    require_partitions((each for scope in scopes for each in scope.named), logs)
    for scope in scopes:
        if not any(each in scope for each in logs):
            raise SettingsError(
                f"topic {scope.topic!r}: expected one of the pipeline's topics, found none of"
                " that name."
            )


to_earliest = ToPosition(Earliest())
to_latest = ToPosition(Latest())
to_table = ToTable()


def to_offsets(positions: Positions) -> Target:
    """These offsets; the other partitions stay."""
    return ToPosition(AtOffsets(positions))


def shift_by(offsets: int) -> Target:
    """So many offsets forward, or back where it is negative."""
    return ToPosition(Shifted(offsets))


# What a name's value means; `to-table` is no position, and takes none.
_POSITIONS: Mapping[str, Callable[[str], Position]] = {
    "to-earliest": lambda _: Earliest(),
    "to-latest": lambda _: Latest(),
    "to-datetime": lambda text: AtMoment(parse_moment(text)),
    "by-duration": lambda text: AtMoment(datetime.now(UTC) - parse_duration(text)),
    "to-offsets": lambda text: AtOffsets(parse_positions(text.split())),
    "shift-by": lambda text: Shifted(parse_shift(text)),
    "to-group": AtGroup,
}


def named_target(name: str, value: str = "", scopes: Iterable[Scope] = ()) -> Target:
    """The target of that name. Raises ValueError for a value that it cannot read."""
    scopes = tuple(scopes)
    if scopes and not TARGETS[name].of_some_topics:
        raise ValueError(f"{name} says itself which partitions it is about: leave the topic out")
    if TARGETS[name].metavar and not value.strip():
        raise ValueError(f"{name} needs a value")
    if name == "to-table":
        return to_table
    try:
        return ToPosition(_POSITIONS[name](value), scopes)
    except OverflowError:
        raise ValueError(f"{value!r} is out of range") from None
