"""Former numbers: records that name schemas by the numbers of a registry of before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.decode import DECODED, Decode, Writers, decoder_of
from sluice.lake.decoding.schema_keys import unknown_keys
from sluice.lake.left_out import is_left_out
from sluice.offsets.ranges import OffsetRange
from sluice.progress.former_registries import FormerRegistry
from sluice.registry.schema_book import SchemaBook
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import Format, Source
from sluice.spec_file.only import Only
from sluice.spec_file.record_formats import RecordFormats

_BEFORE = "_decoded_as_now"


class FormerNumbers:
    """What is kept of former registries, of the keys that records name; nothing is asked."""

    def __init__(self, schemas: SchemaBook) -> None:
        self._schemas = schemas
        self._writers: dict[FormerRegistry, dict[str, RegisteredSchema]] = {}

    def learn(
        self, records: DataFrame, formats: RecordFormats, former: Iterable[FormerRegistry]
    ) -> bool:
        """Look up the keys that the records name; whether any was found that was not known."""
        found = [self._learn(records, formats, each) for each in former]
        return any(found)

    def _learn(self, records: DataFrame, formats: RecordFormats, former: FormerRegistry) -> bool:
        known, source = self._writers.setdefault(former, {}), former.source
        read = records.where(_inside(former.ranges))
        named = unknown_keys(read, formats.registered[source], source, {*known, ""})
        found = self._schemas.kept_of(former.registry, named)
        known |= found
        return bool(found)

    def decode(
        self,
        records: DataFrame,
        now: Decode,
        formats: RecordFormats,
        source: Source,
        former: Sequence[FormerRegistry],
    ) -> DataFrame:
        """Decode each record with the numbers that it names; `now` are those of the spec's."""
        decoded = now(records)
        for each in former:
            if each.source == source:
                writers: Writers = self._writers.get(each, {})
                then = decoder_of(formats, source, writers)
                column = DECODED[source]
                both = then(decoded.withColumnRenamed(column, _BEFORE))
                chosen = F.when(_inside(each.ranges), F.col(column)).otherwise(F.col(_BEFORE))
                decoded = both.withColumn(column, chosen).drop(_BEFORE)
        return decoded

    def chosen(
        self, only: Only, form: Format, now: Column, former: Sequence[FormerRegistry]
    ) -> Column:
        """Whether each record is left out, by the numbers that it names; `now` by the spec's."""
        for each in former:
            if each.source == "value":
                then = is_left_out(only, form, self._writers.get(each, {}))
                now = F.when(_inside(each.ranges), then).otherwise(now)
        return now


def outside(former: Iterable[FormerRegistry], source: Source) -> Column:
    """Whether a record names the numbers of the spec's own registry."""
    ranges = [offsets for each in former if each.source == source for offsets in each.ranges]
    return ~_inside(ranges) if ranges else F.lit(True)


def _inside(ranges: Iterable[OffsetRange]) -> Column:
    """Whether a record lies in the ranges; thousands of partitions make no thousand terms."""
    terms = [_of_topic(topic, bounds) for topic, bounds in _layers(ranges)]
    return F.expr(" OR ".join(f"({each})" for each in terms))


def _layers(
    ranges: Iterable[OffsetRange],
) -> Iterator[tuple[str, Mapping[int, tuple[int, int]]]]:
    """The ranges by topic, of each partition at most one at a time."""
    left = list(ranges)
    while left:
        layers: dict[str, dict[int, tuple[int, int]]] = {}
        rest = []
        for each in left:
            mine = layers.setdefault(each.partition.topic, {})
            if each.partition.partition in mine:
                rest.append(each)
            else:
                mine[each.partition.partition] = each.start, each.end
        yield from layers.items()
        left = rest


def _of_topic(topic: str, bounds: Mapping[int, tuple[int, int]]) -> str:
    first, last = min(bounds), max(bounds)
    # A partition without a range has [0, 0). Nothing in a topic's name needs escaping.
    listed = [bounds.get(each, (0, 0)) for each in range(first, last + 1)]
    starts, ends = (",".join(f"{each}L" for each in some) for some in zip(*listed, strict=True))
    return (
        f"topic = '{topic}' AND partition >= {first} AND partition <= {last}"
        f" AND offset >= get(array({starts}), partition - {first})"
        f" AND offset < get(array({ends}), partition - {first})"
    )
