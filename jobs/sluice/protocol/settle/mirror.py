"""The mirror: a Kafka consumer group that shows the cursor to other tools. It decides nothing."""

from __future__ import annotations

import logging

from sluice.broker.port import TopicEnd
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources

log = logging.getLogger(__name__)


def mirror(resources: PipelineResources) -> None:
    """Commit the cursor to the consumer group: never ahead of the table.

    A group that cannot be committed is a warning: all that counts is in the tables by now.
    """
    lane = read_unchecked(resources)
    group = resources.spec.consumer_group
    # The group of a re-created topic must not get the position in the old topic.
    cursor = {at: TopicEnd(e.topic_id, e.offsets.end) for at, e in lane.cursor.items()}
    if group is None or not cursor:
        return
    try:
        resources.kafka.mirror(group, cursor)
    except (BrokerUnavailable, SettingsError) as problem:
        log.warning(
            "%s: consumer group %s could not follow the cursor (%s). It decides nothing: the rest"
            " is done, and the next run moves it. If it is in use, end its other members, or name"
            " another `consumer_group`.",
            lane.pipeline,
            group,
            str(problem).removesuffix("."),
        )
    else:
        at = lane.last or lane.sequence
        log.info("%s: consumer group %s set to the cursor", at, group)
