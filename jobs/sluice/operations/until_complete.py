"""Whether a table is complete until a moment: asked of the tables, and of Kafka where they lag."""

from __future__ import annotations

from datetime import datetime

from sluice.progress.complete_until import complete_until
from sluice.progress.lane_state import read_unchecked
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
    recorded = complete_until(resources, lane, None)
    if recorded is not None and recorded >= wanted:
        return recorded
    state = resources.kafka.state(resources.spec)
    if refusal := next_refusal(resources, lane, KnownLogs(state)):
        raise refusal
    return complete_until(resources, lane, state)
