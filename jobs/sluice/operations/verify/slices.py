"""Slices: partitions in groups, so that a proof never holds a whole table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sluice.offsets.ranges import TopicIdPartition


def slices(sizes: Mapping[TopicIdPartition, int], at_most: int) -> Iterator[list[TopicIdPartition]]:
    """The partitions in order, as many together as fit; one that does not fit is alone."""
    found: list[TopicIdPartition] = []
    held = 0
    for place, size in sorted(sizes.items()):
        if found and held + size > at_most:
            yield found
            found, held = [], 0
        found.append(place)
        held += size
    if found:
        yield found
