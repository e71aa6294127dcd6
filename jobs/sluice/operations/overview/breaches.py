"""Breaches: the limits of a spec's `alerts` that a pipeline exceeds now. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from sluice.offsets.quantities import format_duration
from sluice.operations.overview.overview import Overview


@dataclass(frozen=True)
class Breach:
    """One limit, by its key, and what was expected and found."""

    limit: str
    text: str

    def __str__(self) -> str:
        return f"alerts.{self.limit}: {self.text}"


def breaches(found: Overview) -> list[Breach]:
    """Every limit that is exceeded.

    An unknown lag exceeds `max_lag` and `min_time_to_loss`: nobody can say that it does not.
    """
    return [*_lag(found), *_time_to_loss(found), *_silence(found), *_quarantine(found)]


def _lag(found: Overview) -> Iterator[Breach]:
    limit = found.spec.alerts.max_lag
    if limit is not None and (found.age is None or found.age > limit):
        age = _told(found, found.age)
        expected = f"expected unread records of at most {format_duration(limit)}"
        yield Breach("max_lag", f"{expected}, found {age}")


def _time_to_loss(found: Overview) -> Iterator[Breach]:
    limit, left = found.spec.alerts.min_time_to_loss, found.time_to_loss
    if limit is None or (found.lags is not None and left is None):
        return
    if left is None or left < limit:
        expected = f"expected at least {format_duration(limit)} until Kafka deletes unread records"
        yield Breach("min_time_to_loss", f"{expected}, found {_told(found, left)}")


def _silence(found: Overview) -> Iterator[Breach]:
    limit, silence = found.spec.alerts.max_silence, found.silence
    if limit is not None and (silence is None or silence > limit):
        last = "none yet" if silence is None else f"the last {format_duration(silence)} ago"
        yield Breach(
            "max_silence", f"expected a batch within {format_duration(limit)}, found {last}"
        )


def _quarantine(found: Overview) -> Iterator[Breach]:
    limit, share = found.spec.alerts.max_quarantine, found.quarantined
    if limit is not None and share is not None and share > limit:
        assert found.progress is not None
        assert found.progress.last is not None
        batch = found.progress.last.receipt.batch
        expected = f"expected at most {limit:.3%} of a batch's records in quarantine"
        yield Breach("max_quarantine", f"{expected}, found {share:.3%} in {batch}")


def _told(found: Overview, duration: timedelta | None) -> str:
    if duration is not None:
        return format_duration(duration)
    return f"unknown: {found.problem or 'Kafka does not say how old a record is'}"
