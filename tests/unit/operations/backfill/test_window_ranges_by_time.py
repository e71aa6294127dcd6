"""By time: timestamps need not rise with offsets, and nothing reads less for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sluice.offsets.offset_runs import OffsetRuns
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.readable import RequestedRange
from sluice.operations.backfill.window_ranges import window_ranges
from sluice.positions.policies import AtMoment
from sluice.positions.position import Questions, Situation
from sluice.progress.resources import PipelineResources
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaLog
from sluice.tables.stamped_rows import TimeWindow

from tests.unit.builders import log, partition, spec, state

DAY = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


# Hours of a day, in any order and equal; years ahead; in microseconds; none (-1), and before 1970.
STAMPS = st.one_of(
    st.integers(0, 24).map(lambda hour: milliseconds(DAY + hour * HOUR)),
    st.integers(0, 24 * 3_600_000).map(lambda more: milliseconds(DAY) + more),
    st.just(milliseconds(DAY + timedelta(days=3650))),
    st.just(milliseconds(DAY) * 1000),
    st.sampled_from([-1, -86_400_000, 0, 9_223_372_036_854_775]),
)
MOMENTS = st.one_of(
    st.integers(0, 24).map(lambda hour: DAY + hour * HOUR),
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(DAY.replace(tzinfo=None), datetime(2026, 11, 2), timezones=st.just(UTC)),
)


@dataclass(frozen=True)
class Stamped:
    """A cluster of one partition that holds these stamps; it answers as Kafka does."""

    stamps: list[int]

    def offsets_for_time(
        self, partitions: list[TopicPartition], moment: datetime
    ) -> dict[TopicPartition, int | None]:
        at = max(0, milliseconds(moment))
        found = (offset for offset, stamp in enumerate(self.stamps) if stamp >= at)
        first = next(found, None)
        return dict.fromkeys(partitions, first)


@dataclass(frozen=True)
class Asked:
    """What a window asks of a pipeline."""

    spec: PipelineSpec
    kafka: Stamped
    data: DeltaLog
    quarantine: DeltaLog


def rows(stamps: dict[int, int], topic_id: str) -> pa.Table:
    return pa.table(
        {
            "_topic": pa.array(["flights"] * len(stamps), pa.string()),
            "_topic_id": pa.array([topic_id] * len(stamps), pa.string()),
            "_partition": pa.array([0] * len(stamps), pa.int32()),
            "_offset": pa.array(stamps.keys(), pa.int64()),
            "_timestamp": pa.array([e * 1000 for e in stamps.values()], pa.timestamp("us", "UTC")),
        }
    )


def requested(
    folder: Path, stamps: list[int], kept: list[str], window: TimeWindow
) -> tuple[list[RequestedRange], KafkaState]:
    """What a window asks for, of records that are kept as a row, aside, or not at all."""
    held = state(log(0, len(stamps)))
    (topic_id,) = {each.topic_id for each in held.logs.values()}
    for name in ("data", "quarantine"):
        mine = {n: stamps[n] for n, where in enumerate(kept) if where == name}
        # Several files, whose statistics differ.
        for part in (dict(list(mine.items())[:3]), dict(list(mine.items())[3:])):
            write_deltalake(folder / name, rows(part, topic_id), mode="append")
    tables = (DeltaLog(str(folder / name)) for name in ("data", "quarantine"))
    asked = Asked(spec(), Stamped(stamps), *tables)
    return list(window_ranges(window, cast(PipelineResources, asked), held)), held


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_window_is_never_narrower_than_asked_and_what_it_reads_beside_is_told(
    data: st.DataObject,
) -> None:
    stamps = data.draw(st.lists(STAMPS, min_size=1, max_size=12))
    places = st.sampled_from(["data", "data", "quarantine", "nowhere"])
    kept = data.draw(st.lists(places, min_size=len(stamps), max_size=len(stamps)))
    start, end = sorted(data.draw(st.tuples(MOMENTS, MOMENTS).filter(lambda e: e[0] != e[1])))
    with TemporaryDirectory() as folder:
        found, _ = requested(Path(folder), stamps, kept, TimeWindow(start, end))
    read = {at for each in found for at in range(each.offsets.start, each.offsets.end)}
    beside = {
        at
        for each in found
        for run in each.beside.ranges(partition())
        for at in range(run.start, run.end)
    }
    micros = [
        timedelta(milliseconds=1) * stamp if abs(stamp) < 10**14 else None for stamp in stamps
    ]
    inside = {
        at for at, since in enumerate(micros) if since is not None and start <= _EPOCH + since < end
    }
    known = {at for at, where in enumerate(kept) if where != "nowhere"}
    assert inside & known <= read
    assert beside == (read & known) - inside
    if not inside and not (read - known):
        assert not read, "what nobody asked for is read only between what somebody did"


@pytest.mark.parametrize("order", [[0, 1, 2, 9, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 3, 3, 3]])
@given(MOMENTS)
@settings(deadline=None, max_examples=30)
def test_a_start_or_reset_by_time_reads_every_record_that_late(
    order: list[int], moment: datetime
) -> None:
    stamps = [milliseconds(DAY + hour * HOUR) for hour in order]
    logs = state(log(0, len(stamps))).logs
    found = AtMoment(moment).wanted(Situation(logs), cast(Questions, Stamped(stamps)))
    late = {n for n, stamp in enumerate(stamps) if DAY + order[n] * HOUR >= moment and stamp >= 0}
    assert late <= set(range(found[partition()], len(stamps)))


@given(st.lists(st.integers(0, 60)), st.lists(st.integers(0, 60)), st.integers(0, 5))
def test_runs_are_sets_of_offsets(one: list[int], two: list[int], bridging: int) -> None:
    first, second = (OffsetRuns.of(pa.array(e, pa.int64()).to_numpy()) for e in (one, two))

    def offsets(runs: OffsetRuns) -> list[int]:
        return [at for each in runs.ranges(partition()) for at in range(each.start, each.end)]

    assert offsets(first) == sorted({*one})
    assert offsets(first & second) == sorted({*one} & {*two})
    assert offsets(first.without(second)) == sorted({*one} - {*two})
    assert offsets(OffsetRuns.together([first, second])) == sorted({*one, *two})
    near = first.bridged(bridging)
    assert {*one} <= {*offsets(near)}
    ranges = list(near.ranges(partition()))
    assert all(two.start - one.end > bridging for one, two in pairwise(ranges))
