"""Breaches: the limits of a spec's `alerts` that a pipeline exceeds now. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from sluice.offsets.lag import Lag
from sluice.offsets.quantities import format_count, format_duration
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

    An unknown value exceeds its limit, with the reason: it may do so.
    """
    kinds = _lag, _time_to_loss, _silence, _quarantine, _waiting
    return [breach for kind in kinds for breach in kind(found)]


def _lag(found: Overview) -> Iterator[Breach]:
    limit = found.spec.alerts.max_lag
    if limit is None:
        return
    told = None
    if found.age is None or found.age > limit:
        told = _told(found, found.age)
    elif found.held_back and (found.held_back_for is None or found.held_back_for > limit):
        told = found.held_back.waiting
    told = told or _state(found, limit)
    if told:
        expected = f"expected unread records of at most {format_duration(limit)}"
        yield Breach("max_lag", f"{expected}, found {told}")


def _state(found: Overview, limit: timedelta) -> str | None:
    """What the state table is, where it has not followed for longer, or does not at all."""
    state = found.state
    if state is None or state.is_up_to_date:
        return None
    late = found.state_age is None or found.state_age > limit
    return f"the state table {state}" if state.refusal or late else None


def _time_to_loss(found: Overview) -> Iterator[Breach]:
    limit, left = found.spec.alerts.min_time_to_loss, found.time_to_loss
    if limit is None:
        return
    told = None
    if left is not None:
        told = format_duration(left) if left < limit else None
    elif found.lags is None:
        told = _told(found, None)
    elif unknown := [each for each in found.lags if each.losable and each.time_to_loss is None]:
        told = _unknown_time(unknown[0])
    if told:
        expected = f"expected at least {format_duration(limit)} until Kafka deletes unread records"
        yield Breach("min_time_to_loss", f"{expected}, found {told}")


def _unknown_time(lag: Lag) -> str:
    if lag.retention is not None and lag.retention.by_size:
        return (
            f"unknown: {lag.partition.topic} has retention.bytes, and Kafka deletes by size, not"
            " age. Limit `max_lag` instead"
        )
    why = lag.unknown_age or f"Kafka does not say how long it keeps {lag.partition.topic}"
    return f"unknown: {why}"


def _silence(found: Overview) -> Iterator[Breach]:
    limit = found.spec.alerts.max_silence
    if limit is None:
        return
    if found.progress and found.progress.last:
        silence, told = found.silence, _since_last(found)
    elif found.progress is None or found.age is None:
        silence, told = None, _told(found, None)
    else:
        # Before the first batch, since there is something to read.
        silence, told = (
            found.age,
            f"none; the oldest unread record is {format_duration(found.age)} old",
        )
    if silence is None or silence > limit:
        expected = f"expected a batch within {format_duration(limit)}"
        yield Breach("max_silence", f"{expected}, found {told}")


def _quarantine(found: Overview) -> Iterator[Breach]:
    limit = found.spec.alerts.max_quarantine
    if limit is None:
        return
    told = None
    if found.progress is None:
        told = _told(found, None)
    elif (last := found.progress.quarantined) and last.share > limit:
        told = f"{last.share:.3%} in {last.batch}: `sluice quarantine list {found.spec.pipeline}`"
    if told:
        expected = f"expected at most {limit:.3%} of a batch's records in quarantine"
        yield Breach("max_quarantine", f"{expected}, found {told}")


def _waiting(found: Overview) -> Iterator[Breach]:
    limit = found.spec.alerts.max_waiting
    if limit is None:
        return
    stock = found.progress.waiting if found.progress else None
    told = None
    if stock is None:
        # The reason is reported with it, once.
        told = "unknown" if found.reason else "unknown: the quarantine table cannot be read"
    elif stock.records > limit:
        told = f"{stock}. `sluice quarantine list {found.spec.pipeline}` shows them"
    if told:
        expected = f"expected at most {format_count(limit, 'record')} waiting in quarantine"
        yield Breach("max_waiting", f"{expected}, found {told}")


def _told(found: Overview, duration: timedelta | None) -> str:
    if duration is not None:
        return format_duration(duration)
    # The reason is reported with it, once.
    return "unknown" if found.reason else f"unknown: {found.unknown_age}"


def _since_last(found: Overview) -> str:
    if found.silence is None:
        return "the last at a moment that is still to come: clocks of this deployment differ"
    return f"the last {format_duration(found.silence)} ago"
