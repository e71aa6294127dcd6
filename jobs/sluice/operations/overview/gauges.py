"""Gauges: the metrics of a pipeline at a glance, by name. Pure.

What is unknown has no value: a 0 would say that all is well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sluice.operations.overview.breaches import breaches
from sluice.operations.overview.overview import Condition, Overview

Value = float | None


@dataclass(frozen=True)
class Gauge:
    """A name, its help text, and its value; with a `label`, one value for each of its values."""

    name: str
    text: str
    values: Callable[[Overview], Mapping[str, Value]]
    label: str = ""


@dataclass(frozen=True)
class Measurement:
    """A value of a gauge for one pipeline; `labels` are those besides the pipeline."""

    gauge: Gauge
    pipeline: str
    labels: Mapping[str, str]
    value: float


# One for the whole deployment.
REFUSED_SPECS = "specs_refused"
REFUSED_SPECS_TEXT = "Invalid spec files in SLUICE_PIPELINES: their pipelines do not run."


def measurements(found: Overview) -> Iterator[Measurement]:
    """Every value that is known."""
    for gauge in GAUGES:
        for key, value in gauge.values(found).items():
            if value is not None:
                labels = {gauge.label: key} if gauge.label else {}
                yield Measurement(gauge, found.spec.pipeline, labels, value)


def _one(value: Callable[[Overview], Value]) -> Callable[[Overview], Mapping[str, Value]]:
    return lambda found: {"": value(found)}


def _seconds(duration: timedelta | None) -> Value:
    return None if duration is None else duration.total_seconds()


def _settled_at(found: Overview) -> Value:
    last = found.progress.last if found.progress else None
    return last.settled.at.timestamp() if last else None


def _complete_until(found: Overview) -> Value:
    return found.complete_until.timestamp() if found.complete_until else None


def _last_records(found: Overview) -> Value:
    last = found.progress.last if found.progress else None
    return last.receipt.records if last else None


def _lost(found: Overview) -> Value:
    return found.progress.lost if found.progress else None


def _state_behind(found: Overview) -> Value:
    return found.state.behind if found.state else None


def _state_refused(found: Overview) -> Value:
    state = found.state
    return None if state is None or state.unknown else float(state.refusal is not None)


def _refreshed(found: Overview) -> Mapping[str, Value]:
    last = found.state.last if found.state else None
    return {} if last is None else last.counts.as_dict()


def _states(found: Overview) -> Mapping[str, Value]:
    return {each.value: float(found.condition is each) for each in Condition}


def _limits(found: Overview) -> Mapping[str, Value]:
    exceeded = {each.limit for each in breaches(found)}
    return {limit: float(limit in exceeded) for limit in found.spec.alerts.limits}


GAUGES = (
    Gauge(
        "lag_records",
        "Offsets between the cursor and the last stable offset, of all partitions.",
        _one(lambda found: found.lag),
    ),
    Gauge(
        "lag_seconds",
        "Age of the oldest record that is not read yet; 0 where everything is read.",
        _one(lambda found: _seconds(found.age)),
    ),
    Gauge(
        "time_to_loss_seconds",
        "Time until retention may delete an unread record; no value for none, or if it is unknown.",
        _one(lambda found: _seconds(found.time_to_loss)),
    ),
    Gauge(
        "last_batch_timestamp_seconds",
        "When the last receipt was written, in seconds since 1970.",
        _one(_settled_at),
    ),
    Gauge(
        "complete_until_timestamp_seconds",
        "The table has all that Kafka showed before this moment, in seconds since 1970.",
        _one(_complete_until),
    ),
    Gauge(
        "last_batch_records",
        "Records that the last settled batch brought into the data table.",
        _one(_last_records),
    ),
    Gauge(
        "quarantine_ratio",
        "Share of the last forward batch's records in quarantine, from 0 to 1.",
        _one(lambda found: found.quarantined),
    ),
    Gauge(
        "quarantine_records",
        "Records that wait in quarantine, to be replayed or dropped.",
        _one(lambda found: found.waiting),
    ),
    Gauge(
        "lost_records",
        "Offsets recorded as lost, or dropped from quarantine, and not read again since.",
        _one(_lost),
    ),
    Gauge("state", "1 for the state that the pipeline is in, 0 for the others.", _states, "state"),
    Gauge(
        "breach",
        "1 for a limit of the spec's `alerts` that is exceeded, 0 for one that is kept.",
        _limits,
        "limit",
    ),
    Gauge(
        "state_behind_versions",
        "Versions of the data table that changed rows, and that its state table has yet to follow.",
        _one(_state_behind),
    ),
    Gauge(
        "state_behind_seconds",
        "Age of the oldest such version; 0 where there is none, no value where the logs no longer"
        " tell.",
        _one(lambda found: _seconds(found.state_age)),
    ),
    Gauge(
        "state_refused",
        "1 for a state table that is refused until it is rebuilt, 0 for one that is not.",
        _one(_state_refused),
    ),
    Gauge(
        "state_refresh_rows",
        "Rows of the state table's last refresh, by what became of them.",
        _refreshed,
        "change",
    ),
)
