"""Filtered offsets: those whose records a pipeline's `only` leaves out, as its commits say. Pure.

A commit has a bit for each offset of a range, compressed: which offsets were left out is known
exactly, so that a record that is missing is never taken for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sluice.offsets.ranges import OffsetRange, TopicPartition

if TYPE_CHECKING:
    from sluice.offsets.row_offsets import Offsets


@dataclass(frozen=True)
class FilteredOffsets:
    """The offsets of a batch's ranges that it left out, packed; empty where it left out none."""

    packed: Mapping[TopicPartition, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, ranges: Iterable[OffsetRange], left_out: Mapping[TopicPartition, Offsets]
    ) -> FilteredOffsets:
        """Pack the offsets that lie in the ranges: of each partition there is one range."""
        from sluice.offsets.offset_bits import packed

        texts = {
            each.partition: packed(each, left_out[each.partition])
            for each in ranges
            if each.partition in left_out
        }
        return cls({partition: text for partition, text in texts.items() if text})

    @classmethod
    def read(cls, stored: Any) -> FilteredOffsets:
        """What `as_dict` gave; nothing where there is none."""
        return cls(
            {
                TopicPartition(topic, int(partition)): text
                for topic, partitions in (stored or {}).items()
                for partition, text in partitions.items()
            }
        )

    def as_dict(self) -> dict[str, dict[str, str]]:
        """As JSON has it: by topic and partition."""
        found: dict[str, dict[str, str]] = {}
        for partition, text in sorted(self.packed.items()):
            found.setdefault(partition.topic, {})[str(partition.partition)] = text
        return found

    def within(self, offsets: OffsetRange) -> Offsets:
        """Those of a range of the batch, ascending. Raises ValueError for text of others."""
        from sluice.offsets.offset_bits import unpacked

        return unpacked(offsets, self.packed.get(offsets.partition))

    def __bool__(self) -> bool:
        return bool(self.packed)


NOTHING_FILTERED = FilteredOffsets()


def told(count: int) -> str:
    """The count behind others in a line; empty for none."""
    return f", {count:,} filtered" if count else ""


def as_key(count: int) -> dict[str, int]:
    """The count as a part of a document; nothing for none."""
    return {"filtered": count} if count else {}
