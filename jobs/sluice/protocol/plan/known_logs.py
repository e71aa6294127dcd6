"""What is known of the logs that a run reads: their bounds, and where their records differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sluice.offsets.notation import Positions
from sluice.offsets.partition_log import KafkaState
from sluice.progress.lane_state import LaneState
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.log_changes import Contradiction
from sluice.protocol.plan.log_identity import find_changes

# Compares the records that were read last with those that are there.
CompareRecords = Callable[[PipelineResources, LaneState, KafkaState], list[Contradiction]]


def no_records(*_: object) -> list[Contradiction]:
    """Compare none: of very many logs, only the bounds can be asked for at once."""
    return []


@dataclass(frozen=True)
class KnownLogs:
    """What a cluster tells; `starts` is where the next run begins, if that was looked up."""

    state: KafkaState
    compare: CompareRecords = find_changes
    starts: Positions = field(default_factory=dict)
