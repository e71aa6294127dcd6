"""A batch in doubt: of two topics, one of which is created anew once the batch has landed."""

from __future__ import annotations

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_topic, numbered, produce


def batch_in_doubt(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline whose first batch has landed; the first topic is created anew before all else."""
    trips = pipeline(topic(), topic())
    for name in trips.topics:
        produce(trips.bootstrap, name, numbered(4))
    trips.ingest(trips.plan())
    delete_topic(trips.bootstrap, trips.topics[0])
    topic(name=trips.topics[0])
    produce(trips.bootstrap, trips.topics[0], numbered(6, first=100))
    return trips
