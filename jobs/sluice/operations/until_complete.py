"""Until when a table is complete: asked of the tables, and of Kafka where that does not suffice."""

from __future__ import annotations

from datetime import datetime

from sluice.offsets.partition_log import KafkaState
from sluice.progress.complete_until import complete_until
from sluice.progress.lane_state import LaneState, read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_data_table
from sluice.protocol.plan.known_logs import KnownLogs
from sluice.protocol.plan.next_run import next_refusal


def known_until(resources: PipelineResources, wanted: datetime) -> datetime | None:
    """Until when the table is complete, as far as it has to be known for `wanted`; None: unknown.

    Kafka is asked only where the tables do not say enough. Raises what refuses the next run, and
    BrokerUnavailable or SettingsError where Kafka does not tell.
    """
    lane = read_unchecked(resources)
    check_data_table(lane)
    recorded = complete_until(resources, lane)
    if recorded is not None and recorded >= wanted:
        return recorded
    return proven_until(resources, lane, resources.kafka.state(resources.spec))


def proven_until(
    resources: PipelineResources, lane: LaneState, state: KafkaState
) -> datetime | None:
    """The same by what Kafka has now. Raises what refuses the next run."""
    if refusal := next_refusal(resources, lane, KnownLogs(state)):
        raise refusal
    return complete_until(resources, lane, state, compared=True)
