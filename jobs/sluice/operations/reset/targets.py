"""Targets of a reset: where the next generation starts, as Kafka's own reset tool names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from sluice.errors import SettingsError
from sluice.offsets.notation import (
    Positions,
    Scope,
    parse_duration,
    parse_moment,
    parse_positions,
    parse_shift,
)
from sluice.offsets.resets import Reset
from sluice.operations.reset.held_position import HeldPosition
from sluice.positions.position import (
    Destinations,
    clip_to_log,
    group_positions,
    keep_cursor,
    require_partitions,
    shift_cursor,
)

Target = Callable[[HeldPosition], Destinations]
"""Answers with the partitions that go somewhere; the others stay."""


def to_earliest(standing: HeldPosition) -> Destinations:
    """Everything that Kafka still holds, once more. A topic that is gone keeps its place."""
    starts = {each: log.log_start_offset for each, log in standing.logs.items()}
    return clip_to_log(starts, standing.logs)


def to_latest(standing: HeldPosition) -> Destinations:
    """Behind everything that can be read now."""
    ends = {each: log.last_stable_offset for each, log in standing.logs.items()}
    return clip_to_log(ends, standing.logs)


def to_table(standing: HeldPosition) -> Destinations:
    """After a RESTORE: where the rows end that the data table still holds."""
    return keep_cursor(standing.held)


def to_datetime(moment: datetime) -> Target:
    """The first record at or after a moment; behind everything, where none is that late."""

    def target(standing: HeldPosition) -> Destinations:
        logs = standing.logs
        found = standing.parts.kafka.offsets_for_time(sorted(logs), moment)
        late = {each: log.last_stable_offset for each, log in logs.items()}
        known = {each: at for each, at in found.items() if at is not None}
        return clip_to_log({**late, **known}, logs)

    return target


def to_offsets(positions: Positions) -> Target:
    """These offsets."""
    return lambda standing: clip_to_log(positions, standing.logs)


def shift_by(offsets: int) -> Target:
    """So many offsets forward, or back where it is negative."""

    def target(standing: HeldPosition) -> Destinations:
        return clip_to_log(shift_cursor(standing.cursor, standing.logs, offsets), standing.logs)

    return target


def to_group(group: str) -> Target:
    """Where a consumer group stands; partitions that it does not know stay."""

    def target(standing: HeldPosition) -> Destinations:
        found = standing.parts.kafka.group_offsets(group, sorted(standing.logs))
        return clip_to_log(group_positions(group, found), standing.logs)

    return target


def as_intended(reset: Reset) -> Target:
    """The same cursor as that of a reset which was interrupted."""
    return lambda standing: keep_cursor(reset.by_partition)


def scoped_to(scopes: Iterable[Scope], target: Target) -> Target:
    """A target for some topics or partitions only. Raises SettingsError for unknown ones."""
    scopes = tuple(scopes)
    if not scopes:
        return target

    def scoped(standing: HeldPosition) -> Destinations:
        require_partitions((each for scope in scopes for each in scope.named), standing.logs)
        for scope in scopes:
            if not any(each in scope for each in standing.logs):
                raise SettingsError(
                    f"topic {scope.topic!r}: expected one of the pipeline's topics, found none of"
                    " that name."
                )
        found = target(standing).items()
        return {each: goes for each, goes in found if any(each in scope for scope in scopes)}

    return scoped


# As options name them; those of the first kind take no value.
PLAIN: Mapping[str, Target] = {
    "to-earliest": to_earliest,
    "to-latest": to_latest,
    "to-table": to_table,
}
_VALUED: Mapping[str, Callable[[str], Target]] = {
    "to-datetime": lambda text: to_datetime(parse_moment(text)),
    "by-duration": lambda text: to_datetime(datetime.now(UTC) - parse_duration(text)),
    "to-offsets": lambda text: to_offsets(parse_positions(text.split())),
    "shift-by": lambda text: shift_by(parse_shift(text)),
    "to-group": to_group,
}
# These name partitions themselves, or are about the whole table.
WHOLE = ("to-offsets", "to-table")


def named_target(name: str, value: str = "", scopes: Iterable[Scope] = ()) -> Target:
    """The target of that name. Raises ValueError for a value that it cannot read."""
    if scopes and name in WHOLE:
        raise ValueError(f"{name} says itself which partitions it is about: leave the topic out")
    if name in PLAIN:
        return scoped_to(scopes, PLAIN[name])
    if not value.strip():
        raise ValueError(f"{name} needs a value")
    try:
        return scoped_to(scopes, _VALUED[name](value))
    except OverflowError:
        raise ValueError(f"{value!r} is out of range") from None
