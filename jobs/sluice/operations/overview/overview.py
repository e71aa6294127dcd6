"""Overview: one pipeline at a glance. Pure: tables and Kafka have been read before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from sluice.moves import Move
from sluice.offsets.batches import Batch
from sluice.offsets.lag import Lag, age_at
from sluice.offsets.quantities import format_count, format_duration, format_moment, known_sum
from sluice.operations.history import SettledBatch
from sluice.operations.state_status import StateStatus
from sluice.progress.overdue import Overdue
from sluice.progress.quarantine_stock import EMPTY, QuarantineStock
from sluice.progress.undecodable import QuarantinedShare
from sluice.spec_file.pipeline_spec import PipelineSpec

# A run that is at work commits a batch within it, and settles what it has committed.
_LONGEST_BATCH = timedelta(hours=1)


class Condition(StrEnum):
    """How a pipeline is: the worst first."""

    STOPPED = "stopped"
    """Its next run would be refused, or a planned batch stays uncommitted, or one unsettled."""
    UNKNOWN = "unknown"
    """Kafka, or the store, did not tell."""
    BEHIND = "behind"
    """There is more to read than a run on time would have left, or for the state to follow."""
    FRESH = "fresh"


@dataclass(frozen=True)
class Progress:
    """What the tables say.

    `waiting_since`: since when batches are planned and none of them has been committed. `waiting`
    are the records in quarantine, None if that is unknown. `state` is the state table's; None where
    the spec has none. `rereads`: a reset went back, and what was read before it is read again.
    """

    generation: int
    positions: int
    last: SettledBatch | None = None
    unfinished: tuple[Batch, ...] = ()
    waiting_since: datetime | None = None
    unsettled: int = 0
    overdue: Overdue | None = None
    lost: int = 0
    quarantined: QuarantinedShare | None = None
    waiting: QuarantineStock | None = EMPTY
    state: StateStatus | None = None
    rereads: bool = False

    @property
    def in_quarantine(self) -> int | None:
        """How many records wait in quarantine; None where that is unknown."""
        return self.waiting.records if self.waiting else None


@dataclass(frozen=True)
class Overview:
    """One pipeline at the moment `asked`.

    `progress` is None where the tables cannot be read, `lags` where Kafka did not tell; `problem`
    says why, with the next move. `refused` is why the next run would be, with the next move.
    `complete_until`: the table has every record that a reader could see in Kafka before it.
    """

    spec: PipelineSpec
    asked: datetime
    progress: Progress | None
    lags: tuple[Lag, ...] | None
    problem: str = ""
    refused: str = ""
    complete_until: datetime | None = None

    @property
    def lag(self) -> int | None:
        """Offsets not read yet; None where that of any partition is unknown, or there is none."""
        return known_sum(each.records for each in self.lags) if self.lags else None

    @property
    def last_stable_offset(self) -> int | None:
        """The sum of the LSOs; None where that of any partition is unknown."""
        if not self.lags:
            return None
        return known_sum(each.last_stable_offset for each in self.lags)

    @property
    def age(self) -> timedelta | None:
        """The age of the oldest unread record; zero where everything is read.

        None where that of any partition is unknown, or there is none.
        """
        found = [each.age for each in self.lags or ()]
        known = [each for each in found if each is not None]
        return max(known, default=None) if len(known) == len(found) else None

    @property
    def time_to_loss(self) -> timedelta | None:
        """The shortest time until Kafka deletes an unread record.

        None where there is none to delete, and where that of any partition is unknown.
        """
        found = [each.time_to_loss for each in self.lags or () if each.losable]
        known = [each for each in found if each is not None]
        return min(known, default=None) if len(known) == len(found) else None

    @property
    def held_back(self) -> Lag | None:
        """The partition that an open transaction has held back the longest; None without one.

        One where that is unknown comes first.
        """
        found = [each for each in self.lags or () if each.held_back]
        return max(found, key=_longest_held_back, default=None)

    @property
    def held_back_for(self) -> timedelta | None:
        """How long an open transaction has kept records from being read; zero without one.

        None where that is unknown.
        """
        return self.held_back.held_back_for if self.held_back else timedelta(0)

    @property
    def silence(self) -> timedelta | None:
        """The time since the last receipt; None before the first, and where it is unknown."""
        last = self.progress.last if self.progress else None
        return age_at(self.asked, last.settled.at) if last else None

    @property
    def unknown_age(self) -> str:
        """Why `age` is unknown, in words."""
        found = (each.unknown_age for each in self.lags or () if each.unknown_age)
        return next(found, "no partition is known")

    @property
    def quarantined(self) -> float | None:
        """The share of the last forward batch that is in quarantine; None before the first."""
        found = self.progress.quarantined if self.progress else None
        return found.share if found else None

    @property
    def waiting(self) -> int | None:
        """How many records wait in quarantine; None where that is unknown."""
        return self.progress.in_quarantine if self.progress else None

    @property
    def state(self) -> StateStatus | None:
        """The state table's; None where there is none, or the tables cannot be read."""
        return self.progress.state if self.progress else None

    @property
    def state_age(self) -> timedelta | None:
        """For how long the state table has been behind; None without one, or if unknown."""
        return self.state.age_at(self.asked) if self.state else None

    @property
    def condition(self) -> Condition:
        """How it is."""
        return self._judged[0]

    @property
    def reason(self) -> str:
        """Why it is not fresh, and the next move; empty where it is."""
        return self._judged[1]

    @property
    def _judged(self) -> tuple[Condition, str]:
        return next(self._findings(), (Condition.FRESH, ""))

    def _findings(self) -> Iterator[tuple[Condition, str]]:
        progress, patience = self.progress, self.spec.patience
        if self.refused:
            yield Condition.STOPPED, self.refused
        yield from ((Condition.STOPPED, each) for each in self._stuck())
        if progress is None or self.lags is None:
            yield Condition.UNKNOWN, self.problem
        elif self.age is None:
            lag = "an unknown number of" if self.lag is None else f"{self.lag:,}"
            yield (
                Condition.BEHIND,
                f"{lag} offsets not read, of unknown age: {self.unknown_age}. Limit `max_silence`,"
                " or let the topic have LogAppendTime.",
            )
        elif patience and self.age > patience:
            yield (
                Condition.BEHIND,
                f"the oldest unread record is {format_duration(self.age)} old, expected at most"
                f" {format_duration(patience)}{self._again}. Is the DAG unpaused, and is its last"
                " run over?",
            )
        elif patience and self.held_back and _over(self.held_back_for, patience):
            yield (
                Condition.BEHIND,
                f"{self.held_back.waiting}. End it at the producer, or wait for its timeout.",
            )
        yield from ((Condition.BEHIND, each) for each in self._state_late(patience))

    @property
    def _again(self) -> str:
        rereads = self.progress is not None and self.progress.rereads
        return "; it was read before, and a reset reads it again" if rereads else ""

    def _state_late(self, patience: timedelta | None) -> Iterator[str]:
        """Why the state table does not follow; the data table goes on."""
        state = self.state
        if state is None:
            return
        if state.refusal is not None:
            yield f"the state table is {state}."
        elif patience and not state.is_up_to_date and _over(self.state_age, patience):
            yield (
                f"the state table is {state}. The log of `refresh` says why, as does"
                f" `{Move('run', (self.spec.pipeline,))}`."
            )

    def _stuck(self) -> Iterator[str]:
        """The batches that should have got on by now."""
        progress = self.progress
        since = progress.waiting_since if progress else None
        if progress and since and self.asked - since > _LONGEST_BATCH:
            named = format_count(len(progress.unfinished), "batch", "batches")
            yield (
                f"{named} planned, and none committed since {format_moment(since)} UTC:"
                f" {progress.unfinished[0]}. The log of `ingest` says why; the next run adopts what"
                " is planned."
            )
        late = progress.overdue if progress else None
        if late and self.asked - late.since > _LONGEST_BATCH:
            named = format_count(late.batches, "batch", "batches")
            yield (
                f"{named} in the table without receipt, and none settled since"
                f" {format_moment(late.since)} UTC: {late.batch}. The log of `settle` says why, as"
                f" does `{Move('run', (self.spec.pipeline,))}`."
            )


def _longest_held_back(lag: Lag) -> timedelta:
    return timedelta.max if lag.held_back_for is None else lag.held_back_for


def _over(found: timedelta | None, limit: timedelta) -> bool:
    return found is None or found > limit


class Judged(Protocol):
    """A pipeline, and how it is."""

    @property
    def spec(self) -> PipelineSpec:
        """The pipeline's spec."""

    @property
    def condition(self) -> Condition:
        """How it is."""

    @property
    def reason(self) -> str:
        """Why it is not fresh, and the next move; empty where it is."""


_Judged = TypeVar("_Judged", bound=Judged)


def as_bad_as(limit: Condition, found: Iterable[_Judged]) -> list[_Judged]:
    """The pipelines that are so, or worse; the worst first."""
    bad = list(Condition)[: list(Condition).index(limit) + 1]
    return [each for each in worst_first(found) if each.condition in bad]


def worst_first(found: Iterable[_Judged]) -> list[_Judged]:
    """In the order of their conditions, then of their names."""
    order = list(Condition)
    return sorted(found, key=lambda each: (order.index(each.condition), each.spec.pipeline))


def named_by_reason(found: Iterable[Judged]) -> Mapping[tuple[Condition, str], list[str]]:
    """The names of those that are so for one reason; without those that have none."""
    named: dict[tuple[Condition, str], list[str]] = {}
    for each in found:
        if each.reason:
            named.setdefault((each.condition, each.reason), []).append(each.spec.pipeline)
    return named


def reasons(found: Iterable[Overview]) -> list[str]:
    """A line for each reason, with the pipelines that have it: a cluster is named once."""
    named = named_by_reason(found)
    return [f"{', '.join(names)}: {how}: {why}" for (how, why), names in named.items()]


def totals(found: Sequence[Judged]) -> dict[Condition, int]:
    """How many are in each condition."""
    return {each: sum(one.condition is each for one in found) for each in Condition}
