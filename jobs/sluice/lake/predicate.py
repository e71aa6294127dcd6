"""The predicate of a replacement: which rows of the data table a batch reads again. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from sluice.lake.port import BatchAttempt
from sluice.offsets.ranges import OffsetRange

# Up to so many ranges each has a term of its own, by which statistics choose the files. Spark
# compiles a hundred terms no more: minutes for a commit, and 10,000 end the JVM (measured).
_FEW_RANGES = 16


def rows_in_ranges(attempt: BatchAttempt) -> str:
    """The predicate for the rows in the ranges, which exclude what Kafka no longer holds.

    By topic and topic id: the offsets of a recreated topic start again.
    """
    ranges = sorted(each for each in attempt.ranges if each.span)
    by_topic = groupby(ranges, key=lambda each: each.partition.topic)
    terms = []
    for topic, found in by_topic:
        mine = list(found)
        rows = (
            " OR ".join(map(_rows_of, mine)) if len(ranges) <= _FEW_RANGES else _rows_of_all(mine)
        )
        # Neither needs escaping: Kafka allows letters, digits, `.`, `_` and `-` in them.
        topic_id = attempt.batch.topic_ids[topic]
        terms.append(f"(_topic = '{topic}' AND _topic_id = '{topic_id}' AND ({rows}))")
    return " OR ".join(terms)


def _rows_of(offsets: OffsetRange) -> str:
    return (
        f"_partition = {offsets.partition.partition}"
        f" AND _offset >= {offsets.start} AND _offset < {offsets.end}"
    )


def _rows_of_all(ranges: Sequence[OffsetRange]) -> str:
    """The rows of many ranges of a topic: bounds for the statistics, and each partition's own."""
    starts = {each.partition.partition: each.start for each in ranges}
    ends = {each.partition.partition: each.end for each in ranges}
    first, last = min(starts), max(starts)

    def own(offsets: Mapping[int, int]) -> str:
        # A partition without a range has [0, 0).
        listed = ",".join(str(offsets.get(number, 0)) for number in range(first, last + 1))
        return f"get(array({listed}), _partition - {first})"

    return (
        f"_partition >= {first} AND _partition <= {last}"
        f" AND _offset >= {min(starts.values())} AND _offset < {max(ends.values())}"
        f" AND _offset >= {own(starts)} AND _offset < {own(ends)}"
    )
