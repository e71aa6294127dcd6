"""Reset targets: where the next generation starts, named as in Kafka's reset tool (KIP-122)."""

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
from sluice.operations.reset.standing import HeldPosition, Trust
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
from sluice.progress.lane_state import LaneState, require_trusted


class ResetQuestions(Questions, Protocol):
    """The questions that a target may ask."""

    def logs(self, cluster_id: str) -> Logs:
        """What Kafka holds now. Raises ResetNeeded if this is a different cluster."""

    def new_cluster(self, before: str) -> tuple[str, Logs]:
        """The cluster's id, and what it holds. Raises SettingsError if it is the one before."""


class Target(Protocol):
    """Where a reset moves the cursor.

    `towards` names a target that moves with the log; it is empty for one that stands still.
    """

    @property
    def trust(self) -> Trust:
        """Only what leads back to trust may decide on a data table that is not trusted."""

    @property
    def towards(self) -> str:
        """The target's name and value, if each new record moves it."""

    @property
    def asks_kafka(self) -> bool:
        """Whether the cursors that stay must be of the logs that are there now.

        What leads back to trust decides about the table only; the next plan compares the logs.
        """

    def cluster_id(self, held: HeldPosition, ask: ResetQuestions) -> str:
        """The cluster that the new generation reads."""

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """The partitions that move, each with its new position; the others stay.

        Raises SettingsError or ResetNeeded if the target does not fit the pipeline.
        """


@dataclass(frozen=True)
class ToPosition:
    """A position, clipped to what Kafka holds; with `scopes`, for those partitions only.

    A topic that is gone keeps its cursor.
    """

    position: Position
    scopes: tuple[Scope, ...] = ()
    towards: str = ""
    new_cluster: bool = False
    trust: Trust = require_trusted
    asks_kafka = True

    def cluster_id(self, held: HeldPosition, ask: ResetQuestions) -> str:
        """The same, unless told otherwise."""
        return ask.new_cluster(held.cluster_id)[0] if self.new_cluster else held.cluster_id

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """The partitions that the position names. Raises SettingsError for unknown scopes."""
        if self.new_cluster:
            return self._all_moves(held, ask)
        logs = ask.logs(held.cluster_id)
        _require_scopes(self.scopes, logs)
        now = Situation(logs, held.cursor, held.pipeline)
        found = clip_to_log(self.position.wanted(now, ask), logs)
        return {each: moved for each, moved in found.items() if self._concerns(each)}

    def _all_moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """Every partition: an offset of the old cluster means nothing on the new one."""
        _, logs = ask.new_cluster(held.cluster_id)
        found = clip_to_log(self.position.wanted(Situation(logs), ask), logs)
        if left := sorted(logs.keys() - found.keys()):
            raise SettingsError(
                f"{', '.join(map(str, left))}: expected a position for every partition of the new"
                " cluster, found none. Name these, too."
            )
        return found

    def _concerns(self, partition: TopicPartition) -> bool:
        return not self.scopes or any(partition in scope for scope in self.scopes)


def _require_known(lane: LaneState) -> None:
    """The data table may have been put back, or have forgotten transaction ids.

    Raises TableRefused where another one is in its place, or the offsets table is the older one.
    """
    lane.known.require_known(lane.data)


@dataclass(frozen=True)
class ToTable:
    """Where the rows of a restored data table end, or of one put back. Does not contact Kafka."""

    trust: Trust = _require_known
    towards = ""
    asks_kafka = False

    def cluster_id(self, held: HeldPosition, ask: ResetQuestions) -> str:
        """The same."""
        return held.cluster_id

    def moves(self, held: HeldPosition, ask: ResetQuestions) -> Moves:
        """Every partition."""
        return keep_cursor(held.held)


@dataclass(frozen=True)
class ToIntended:
    """The cursor that a reset already decided on. Does not contact Kafka."""

    reset: Reset
    trust: Trust = require_trusted
    towards = ""
    asks_kafka = False

    def cluster_id(self, held: HeldPosition, ask: ResetQuestions) -> str:
        """The one that it decided on."""
        return self.reset.cluster_id

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
to_latest = ToPosition(Latest(), towards="to-latest")
to_table = ToTable()


def to_offsets(positions: Positions, new_cluster: bool = False) -> Target:
    """These offsets; the other partitions stay."""
    return ToPosition(AtOffsets(positions), new_cluster=new_cluster)


def shift_by(offsets: int) -> Target:
    """This many offsets forward, or back if negative."""
    return ToPosition(Shifted(offsets))


# The position that a name and its value mean; `to-table` is not a position, and takes no value.
_POSITIONS: Mapping[str, Callable[[str], Position]] = {
    "to-earliest": lambda _: Earliest(),
    "to-latest": lambda _: Latest(),
    "to-datetime": lambda text: AtMoment(parse_moment(text)),
    "by-duration": lambda text: AtMoment(datetime.now(UTC) - parse_duration(text)),
    "to-offsets": lambda text: AtOffsets(parse_positions(text.split())),
    "shift-by": lambda text: Shifted(parse_shift(text)),
    "to-group": AtGroup,
}


def named_target(
    name: str, value: str = "", scopes: Iterable[Scope] = (), new_cluster: bool = False
) -> Target:
    """The target of that name. Raises ValueError for a value that cannot be parsed."""
    scopes = tuple(scopes)
    if new_cluster and (scopes or not TARGETS[name].on_new_cluster):
        raise ValueError("a new cluster is read in all partitions, from positions of its own")
    if scopes and not TARGETS[name].of_some_topics:
        raise ValueError(f"{name} already names its partitions: leave the topic out")
    if TARGETS[name].metavar and not value.strip():
        raise ValueError(f"{name} needs a value")
    if name == "to-table":
        return to_table
    try:
        position = _POSITIONS[name](value)
    except OverflowError:
        raise ValueError(f"{value!r} is out of range") from None
    # Until a moment has come, it means the end of the log.
    ahead = isinstance(position, AtMoment) and position.moment > datetime.now(UTC)
    moving = TARGETS[name].moving or ahead
    words = [name, *([value.strip()] if TARGETS[name].metavar else []), *map(str, scopes)]
    return ToPosition(position, scopes, " ".join(words) if moving else "", new_cluster)
