"""Log changes: how Kafka's log differs from the one that the cursor belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sluice.errors import ResetNeeded, SettingsError, as_lines
from sluice.moves import Advice, Move, advice, options
from sluice.offsets.batches import Batch, Cursor, PlannedRange
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss, OnDataLoss
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.spec_file.pipeline_spec import PipelineSpec

_GONE = (
    "Bring the topic back; or, when it is gone for good, take it out of `topics`, or name it in"
    " `except_topics` beside a `topic_pattern`: the other topics go on, and it keeps its place."
    " Where it is the only one, remove the pipeline (docs/operations.md)."
)

NextMove = Callable[[str, Move], Advice]
"""What to do, by the pipeline, and the reset to the start of every topic that needs one.

A reset of some of them refuses the others.
"""


def _other_log(pipeline: str, reset: Move) -> Advice:
    return advice(
        "Bring the right copy of the log back; or ",
        reset,
        " reads this one from its start, and replaces the rows of all that it reads.",
    )


def _created_anew(pipeline: str, reset: Move) -> Advice:
    return advice("Bring the topic back; or ", reset, " goes on with the new one.")


def _gone(pipeline: str, reset: Move) -> Advice:
    return Advice(_GONE)


def _gone_unfinished(pipeline: str, reset: Move) -> Advice:
    drop = Move("reset", (pipeline, "--shift-by", "0"))
    return advice(f"{_GONE} This batch was planned before: ", drop, " drops the plan.")


@dataclass(frozen=True)
class Contradiction:
    """The log is not the one that was read before."""

    partition: TopicPartition
    expected: str
    found: str
    next_move: NextMove = _other_log

    def __str__(self) -> str:
        return f"{self.partition}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class NoLog(Contradiction):
    """There is no log any more; no reset helps."""


Finding = Loss | Contradiction


def compare_last(last: PlannedRange, log: PartitionLog | None) -> Finding | None:
    """Compare a partition's last planned range with its current log; None if they agree."""
    partition, cursor = last.offsets.partition, last.offsets.end
    if log is None:
        return _no_log(last, cursor, _gone)
    if log.topic_id != last.topic_id:  # KIP-516: a topic created anew has a new id.
        held = f"[{log.log_start_offset}, {log.end_offset})"
        found = f"{log.topic_id} with {held}: the topic was deleted and created anew"
        expected = f"topic id {last.topic_id} read up to {cursor}"
        return Contradiction(partition, expected, found, _created_anew)
    if _went_back(last.leader_epoch, log.leader_epoch):  # KIP-101: epochs only grow.
        expected = f"leader epoch {last.leader_epoch} or later"
        found = f"{log.leader_epoch}: the log was replaced by an older copy"
        return Contradiction(partition, expected, found)
    if cursor > log.end_offset:
        missing = cursor - log.end_offset
        found = f"end offset {log.end_offset}, {missing} less: the log was truncated"
        return Contradiction(partition, f"an end offset of at least {cursor}", found)
    if cursor < log.log_start_offset:
        lost = OffsetRange(partition, cursor, log.log_start_offset)
        return Loss(lost, log.topic_id, LossCause(LossKind.RETENTION))
    return None


def compare_held(cursor: Cursor, state: KafkaState) -> list[Finding | None]:
    """Compare each partition that is there with its cursor."""
    return [compare_last(last, state.logs[at]) for at, last in cursor.items() if at in state.logs]


def compare_start(partition: TopicPartition, start: int, log: PartitionLog) -> Loss | None:
    """The loss if a start position lies below the log start; None if it does not."""
    if start >= log.log_start_offset:
        return None
    lost = OffsetRange(partition, start, log.log_start_offset)
    return Loss(lost, log.topic_id, LossCause(LossKind.BEFORE_FIRST_PLAN))


def compare_new_partition(partition: TopicPartition, log: PartitionLog) -> Loss | None:
    """The loss if a partition added to a known topic no longer begins at offset 0, else None."""
    if log.log_start_offset == 0:
        return None
    lost = OffsetRange(partition, 0, log.log_start_offset)
    return Loss(lost, log.topic_id, LossCause(LossKind.BEFORE_NEW_PARTITION))


def require_topics(spec: PipelineSpec, known: Iterable[str], state: KafkaState) -> None:
    """Raises SettingsError if a topic never existed, or no topic matches the pattern."""
    there = {partition.topic for partition in state.logs} | set(known)
    absent = [topic for topic in spec.topics or () if topic not in there]
    if absent:
        raise SettingsError(
            f"topics: expected {', '.join(absent)} on the cluster, found no such topic."
            " Create it, or correct `topics` in the spec."
        )
    if not there:
        raise SettingsError(
            f"topic_pattern: no topic on the cluster matches {spec.topic_pattern!r}."
            " Create one, or correct `topic_pattern` in the spec."
        )


def require_same_cluster(pipeline: str, expected: str, state: KafkaState) -> None:
    """Raises ResetNeeded if the connection now leads to another cluster."""
    if expected != state.cluster_id:
        raise ResetNeeded(
            f"cluster: expected {expected}, found {state.cluster_id} behind the same connection."
            " Point the connection to the cluster that was read before; or, when this one has taken"
            " its place, ",
            Move("reset", (pipeline, "--to-earliest", "--new-cluster")),
            " goes on with it (or another target, with `--new-cluster`).",
        )


def readable_ranges(
    batch: Batch, state: KafkaState, policy: OnDataLoss, changes: Iterable[Finding] = ()
) -> list[OffsetRange]:
    """The ranges of an adopted batch, as far as Kafka still holds them.

    Raises ResetNeeded if a log is now a different one, by its state or by the changes found before,
    and what the policy raises if retention deleted part of a range.
    """
    non_empty = [each for each in batch.ranges if each.offsets.span]
    require_same_cluster(batch.sequence.pipeline, batch.cluster_id, state)
    findings: list[Finding | None] = [
        _compare_unfinished(each, state.logs.get(each.offsets.partition)) for each in non_empty
    ]
    findings += changes
    lost = losses(batch.sequence.pipeline, findings, policy)
    starts = {loss.offsets.partition: loss.offsets.end for loss in lost}
    return [
        OffsetRange(
            each.offsets.partition,
            starts.get(each.offsets.partition, each.offsets.start),
            each.offsets.end,
        )
        for each in non_empty
    ]


def losses(
    pipeline: str, findings: Iterable[Finding | None], policy: OnDataLoss
) -> tuple[Loss, ...]:
    """The losses to record. Raises ResetNeeded for a contradiction, else what the policy raises."""
    found = list(findings)
    require_no_contradiction(pipeline, found)
    return policy.accept([each for each in found if isinstance(each, Loss)])


def require_no_contradiction(pipeline: str, findings: Iterable[Finding | None]) -> None:
    """Raises ResetNeeded with every contradiction and its next move. A loss is not one."""
    contradictions = [each for each in findings if isinstance(each, Contradiction)]
    if contradictions:
        moves = next_moves(pipeline, contradictions)
        raise ResetNeeded(as_lines([*dict.fromkeys(map(str, contradictions)), *moves]))


def next_moves(pipeline: str, contradictions: Sequence[Contradiction]) -> list[Advice]:
    """What to do about contradictions, each once."""
    topics = sorted({e.partition.topic for e in contradictions if not isinstance(e, NoLog)})
    reset = Move("reset", (pipeline, "--to-earliest", *options("--topic", topics)))
    return list(dict.fromkeys(each.next_move(pipeline, reset) for each in contradictions))


def _compare_unfinished(planned: PlannedRange, log: PartitionLog | None) -> Finding | None:
    offsets = planned.offsets
    if log is None:
        return _no_log(planned, offsets.start, _gone_unfinished)
    finding = compare_last(planned, log)
    if isinstance(finding, Contradiction):
        return finding
    if log.log_start_offset <= offsets.start:
        return None
    lost = OffsetRange(offsets.partition, offsets.start, min(log.log_start_offset, offsets.end))
    return Loss(lost, log.topic_id, LossCause(LossKind.RETENTION_AFTER_PLANNING))


def _no_log(last: PlannedRange, cursor: int, next_move: NextMove) -> NoLog:
    unread = max(0, last.last_stable_offset - cursor)
    told = (
        f"{unread} offsets up to its last known end were not read"
        if unread
        else "read up to its last known end; whether more came behind that is not known"
    )
    found = f"no such partition, {told}"
    return NoLog(last.offsets.partition, f"a log to go on with at {cursor}", found, next_move)


def _went_back(before: int | None, now: int | None) -> bool:
    return before is not None and now is not None and now < before
