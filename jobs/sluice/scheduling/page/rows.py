"""Rows: one pipeline of the page in plain values, worked out when it is read and not when shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sluice.offsets.lag import Lag, loss_told
from sluice.offsets.quantities import format_moment
from sluice.operations.history import SettledBatch
from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.overview import Condition, Overview, Progress
from sluice.scheduling.page.polled import Seen
from sluice.spec_file.pipeline_spec import PipelineSpec

# A reading that is older is shown with its moment.
_NEW = timedelta(seconds=15)
# An older reading does not describe the present.
_OLD = timedelta(minutes=1)


@dataclass(frozen=True)
class KafkaAnswer:
    """Kafka's answer about a pipeline at a moment; an unknown number is None.

    `loss` is the time until it deletes an unread record, in words.
    """

    at: datetime
    lags: tuple[Lag, ...]
    last_stable: int | None
    lag: int | None
    age: timedelta | None
    loss: str


@dataclass(frozen=True)
class Row:
    """A pipeline. `told` may be older than the rest: where Kafka is silent, it is the last known.

    `read` is None where nothing was read yet; `reason` then says why. `waiting`: for a reading that
    has begun, and without which nothing is known of the present. `paused`: a DAG with its tasks, if
    all of them are paused, so that Airflow starts no run by itself. `complete_until`: the table has
    all that Kafka showed before.
    """

    spec: PipelineSpec
    condition: Condition
    reason: str
    read: datetime | None = None
    told: KafkaAnswer | None = None
    progress: Progress | None = None
    complete_until: datetime | None = None
    breaches: tuple[str, ...] = ()
    waiting: bool = False
    paused: str = ""

    @property
    def name(self) -> str:
        """The pipeline's name, and its DAG's."""
        return self.spec.pipeline

    @property
    def last(self) -> SettledBatch | None:
        """The last batch that has a receipt."""
        return self.progress.last if self.progress else None

    @property
    def in_quarantine(self) -> int | None:
        """How many records wait in quarantine; None where that is unknown."""
        return self.progress.in_quarantine if self.progress else None

    @property
    def outdated(self) -> bool:
        """Whether Kafka did not answer at the last reading, so that its former answer is shown."""
        return self.told is not None and self.told.at != self.read

    @property
    def topics(self) -> str:
        """The topics that the spec names; of several, the first and how many more."""
        found = self.spec.topics
        if not found:
            return f"/{self.spec.topic_pattern}/"
        return found[0] if len(found) == 1 else f"{found[0]} and {len(found) - 1:,} more"

    @property
    def never_ran(self) -> bool:
        """Whether nothing was ever planned."""
        progress = self.progress
        return progress is not None and not (
            self.last or progress.unfinished or progress.unsettled or progress.generation > 1
        )


def row_of(found: Overview, before: Row | None) -> Row:
    """The row of what was read now; what Kafka does not tell now is taken from the row before."""
    told = before.told if before else None
    if found.lags is not None:
        ends = found.last_stable_offset
        told = KafkaAnswer(
            found.asked, found.lags, ends, found.lag, found.age, loss_told(found.lags)
        )
    return Row(
        found.spec,
        found.condition,
        found.reason,
        found.asked,
        told,
        found.progress,
        found.complete_until,
        tuple(map(str, breaches(found))),
    )


def unread(spec: PipelineSpec, why: str, waiting: bool) -> Row:
    """The row of a pipeline that was not read yet."""
    return Row(spec, Condition.UNKNOWN, why, waiting=waiting)


def with_pause(row: Row, dag_id: str) -> Row:
    """The row of a pipeline whose DAGs are paused: that is why it is behind, if it is."""
    if row.condition is not Condition.BEHIND:
        return replace(row, paused=dag_id)
    why = "The DAG is paused: no run reads what is new, until it is switched on in Airflow."
    return replace(row, paused=dag_id, reason=why)


def aged(row: Row, seen: Seen[Mapping[str, Row]], now: datetime) -> Row:
    """The row, with how old it is and why; itself where it is new.

    What is much older, or could not be read again, is unknown, unless it was worse.
    """
    why = staleness(seen, now)
    if not why:
        return row
    old = bool(seen.problem) or (seen.at is not None and now - seen.at > _OLD)
    well = row.condition in (Condition.BEHIND, Condition.FRESH)
    return replace(
        row,
        condition=Condition.UNKNOWN if old and well else row.condition,
        reason="\n".join(filter(None, (row.reason, why))),
        waiting=old and seen.asked is not None,
    )


def staleness(seen: Seen[Mapping[str, Row]], now: datetime) -> str:
    """How old what is shown is, and why, in words; empty where it is new."""
    if seen.at is None or (now - seen.at <= _NEW and not seen.problem):
        return ""
    told = f"This was read at {format_moment(seen.at)} UTC."
    if seen.problem:
        told += f" It could not be read again: {seen.problem}"
    elif seen.asked:
        told += f" It was asked again at {seen.asked:%H:%M:%S} UTC, and there is no answer yet."
    return told
