"""Values for tests, with everything that a test does not care about filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sluice.offsets.batches import Batch, BatchSequence, Lane, Mode, PlannedRange
from sluice.offsets.history import LaneHistory
from sluice.offsets.log_page import LogPage
from sluice.offsets.log_verdicts import verdicts
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span
from sluice.protocol.settle.gaps import Gaps, gaps_of
from sluice.spec_file.pipeline_spec import PipelineSpec

TOPIC_ID = "h5UyGY8BS2Ch8PmLNWnxPQ"
CLUSTER = "5L6g3nShT-eMCtK--X86sw"


def partition(number: int = 0, topic: str = "flights") -> TopicPartition:
    return TopicPartition(topic, number)


def offsets(start: int, end: int, number: int = 0, topic: str = "flights") -> OffsetRange:
    return OffsetRange(TopicPartition(topic, number), start, end)


def log(
    start: int = 0,
    stable: int = 100,
    end: int | None = None,
    *,
    topic_id: str = TOPIC_ID,
    epoch: int | None = 3,
) -> PartitionLog:
    return PartitionLog(topic_id, start, stable, stable if end is None else end, epoch)


def state(
    *logs: PartitionLog,
    topic: str = "flights",
    cluster: str = CLUSTER,
    asked: datetime | None = None,
) -> KafkaState:
    """One topic; its partitions' logs in order."""
    found = {TopicPartition(topic, at): each for at, each in enumerate(logs)}
    return KafkaState(cluster, found, asked)


def planned(
    offsets: OffsetRange,
    *,
    topic_id: str = TOPIC_ID,
    log_start: int = 0,
    stable: int | None = None,
    epoch: int | None = 3,
) -> PlannedRange:
    stable = offsets.end if stable is None else stable
    return PlannedRange(offsets, topic_id, log_start, stable, epoch)


def sequence(
    pipeline: str = "flights", lane: Lane = "forward", generation: int = 1
) -> BatchSequence:
    return BatchSequence(pipeline, lane, generation)


def batch(
    *ranges: OffsetRange | PlannedRange, number: int = 1, mode: Mode = "append", **where: str
) -> Batch:
    whole = tuple(planned(each) if isinstance(each, OffsetRange) else each for each in ranges)
    return Batch(sequence(), number, mode, where.get("cluster", CLUSTER), whole)


def history(*batches: Batch, settled: int | None = None) -> LaneHistory:
    """A history that ends with these batches; settled throughout unless told otherwise."""
    newest = batches[-1].number if batches else 0
    return LaneHistory(sequence(), newest, newest if settled is None else settled, batches)


def spec_keys(**changes: Any) -> dict[str, Any]:
    """The keys of a small valid spec; a change to None takes the key out."""
    keys: Mapping[str, Any] = {
        "version": 1,
        "pipeline": "flights",
        "topics": ["flights"],
        "table": "flights",
        "format": {"type": "raw"},
        **changes,
    }
    return {key: value for key, value in keys.items() if value is not None}


def spec(**changes: Any) -> PipelineSpec:
    return PipelineSpec.model_validate(spec_keys(**changes))


def explain(missing: Sequence[Span], pages: Iterable[LogPage], *, compacts: bool) -> Gaps:
    """What the log says about the missing offsets of one partition."""
    return gaps_of(verdicts(missing, pages, compacts=compacts))
