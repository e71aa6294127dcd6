"""A log in memory: Kafka's brokers and the port to them, in one thread, by a given clock.

`brokers` is written to and suffers what brokers suffer; `cluster` answers what the product asks.
"""

from tests.worlds.memory_log.batch import Batch, Record
from tests.worlds.memory_log.brokers import Appended, MemoryKafka, State, Transaction
from tests.worlds.memory_log.cluster import MemoryCluster
from tests.worlds.memory_log.consumed import MemoryRecord, RangeNotThere
from tests.worlds.memory_log.partition import Partition
from tests.worlds.memory_log.topic import Topic

__all__ = [
    "Appended",
    "Batch",
    "MemoryCluster",
    "MemoryKafka",
    "MemoryRecord",
    "Partition",
    "RangeNotThere",
    "Record",
    "State",
    "Topic",
    "Transaction",
]
