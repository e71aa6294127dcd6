"""Pictures: what is seen of a pipeline over time, on one page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.operations.timeline import PipelineTimeline, TimedBatch
from sluice.scheduling.page.batch_spans import batch_spans
from sluice.scheduling.page.lag_over_time import LagPoint, lag_plot, lag_points
from sluice.scheduling.page.plots import Plot
from sluice.scheduling.page.quarantine_shares import quarantine_plot
from sluice.scheduling.page.rates import Ends, rate_plots, rates_in, rates_out
from sluice.scheduling.page.rows import Row
from sluice.scheduling.page.time_axis import TimeAxis
from sluice.scheduling.page.waiting_records import WaitingRecords


def now_of(row: Row) -> Sequence[LagPoint]:
    """The lag by Kafka's last answer; nothing where it is unknown."""
    told = row.told
    return [LagPoint(told.at, told.lag)] if told and told.lag is not None else []


@dataclass(frozen=True)
class Pictures:
    """Pictures over one and the same time."""

    axis: TimeAxis
    plots: tuple[Plot, ...]


def pictures(
    row: Row,
    seen: PipelineTimeline | None,
    waiting: WaitingRecords | None,
    now: datetime,
) -> Pictures | None:
    """Lag, batches, rates and quarantine until now; None where there is nothing to show."""
    batches, latest = seen.batches if seen else (), next(iter(now_of(row)), None)
    moments = [at for each in batches for at in _moments(each)]
    if not moments:
        return None
    axis = TimeAxis.over([*moments, now])
    found = (
        lag_plot(lag_points(batches, latest), axis),
        batch_spans(batches, axis),
        *rate_plots(rates_in(batches, _ends(row)), rates_out(batches), axis),
        quarantine_plot(batches, waiting, axis),
    )
    return Pictures(axis, tuple(each for each in found if not each.is_empty))


def _moments(each: TimedBatch) -> Iterator[datetime]:
    if each.planned:
        yield each.planned.at
    if each.settled:
        yield each.settled.at


def _ends(row: Row) -> Ends | None:
    """The last stable offsets by Kafka's last answer."""
    if row.told is None:
        return None
    known = {
        each.partition: each.last_stable_offset
        for each in row.told.lags
        if each.last_stable_offset is not None
    }
    return Ends(row.told.at, sum(known.values()), len(known), lambda: known)
