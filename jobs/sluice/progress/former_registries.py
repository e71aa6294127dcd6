"""Former registries: not the spec's, but those by whose numbers some records name schemas.

Offsets are read again as they were read: a number means what it meant in the registry that gave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.range_columns import NumberedBatch, OffsetScope, RangeColumns
from sluice.offsets.ranges import OffsetRange, merged, without
from sluice.offsets.resets import sequences_up_to
from sluice.offsets.spec_edition import SpecEdition
from sluice.progress.lane_state import LaneState
from sluice.registry.schema_book import SchemaBook
from sluice.spec_file.formats import KEY_OF, Source
from sluice.spec_file.pipeline_spec import PipelineSpec


@dataclass(frozen=True)
class FormerRegistry:
    """A connection, and the offsets whose values or keys name schemas by its numbers."""

    source: Source
    registry: str
    ranges: tuple[OffsetRange, ...]

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.ranges))
        return f"{listed}: {self.source}s are read with what was kept of {self.registry}, as before"


def former_registries(
    spec: PipelineSpec, schemas: SchemaBook, lane: LaneState, batch: Batch
) -> tuple[FormerRegistry, ...]:
    """The registries that a batch's offsets were first read with and that the spec has dropped.

    Only those of which schemas are kept: who moves a connection's folder away says that it was the
    wrong one.
    """
    if batch.mode != "replace":
        return ()
    found: list[FormerRegistry] = []
    first: _FirstReads | None = None
    for source, form in spec.formats.registered.items():
        if not schemas.knows_other(form):
            continue
        first = first or _FirstReads(lane, batch)
        taken: dict[str, list[OffsetRange]] = {}
        for registry, offsets in first.by_registry(source):
            taken.setdefault(registry, []).append(offsets)
        found += [
            FormerRegistry(source, registry, tuple(merged(ranges)))
            for registry, ranges in sorted(taken.items())
            if schemas.knows_other(form, registry)
        ]
    return tuple(found)


def former_lines(
    spec: PipelineSpec, schemas: SchemaBook, lane: LaneState, batches: Iterable[Batch]
) -> Iterator[str]:
    """A line for each batch and registry, for a preview."""
    for batch in batches:
        for each in former_registries(spec, schemas, lane, batch):
            yield f"{batch}: {each}"


class _FirstReads:
    """The batches that have read a batch's offsets before, the first ones first."""

    def __init__(self, lane: LaneState, batch: Batch) -> None:
        self._lane = lane
        self._wanted = {each.place: each.offsets for each in batch.ranges if each.offsets.span}
        scope = OffsetScope.of_ranges({place: [each] for place, each in self._wanted.items()})
        self._read = lane.snapshot.columns.ranges("committed", _settled(lane), scope)
        self._editions: dict[NumberedBatch, SpecEdition | None] = {}

    def by_registry(self, source: Source) -> Iterator[tuple[str, OffsetRange]]:
        """Each offset's registry: that of the first reading which had one."""
        for place, wanted in self._wanted.items():
            left = [wanted]
            for index in _in_order(mine := self._read.at(place)):
                registry = self._registry(mine.batch(index), source)
                if registry is None:
                    continue
                rest = without(left, [mine.range(index)])
                yield from ((registry, each) for each in without(left, rest))
                left = rest

    def _registry(self, batch: NumberedBatch, source: Source) -> str | None:
        """The connection that a batch's records named schemas of; None without one."""
        if batch not in self._editions:
            self._editions[batch] = self._edition(*batch)
        edition = self._editions[batch]
        form = edition.keys.get(KEY_OF[source]) if edition else None
        registry = form.get("registry") if isinstance(form, dict) else None
        return registry if isinstance(registry, str) else None

    def _edition(self, sequence: BatchSequence, number: int) -> SpecEdition | None:
        """By the receipt; by the commit where a recovery has written the receipt anew."""
        snapshot = self._lane.snapshot
        if edition := snapshot.read_with(sequence, number):
            return edition
        planned = snapshot.batches(sequence, number, last=number)
        commit = self._lane.data.log.commit_of(planned[0]) if planned else None
        return commit.spec if commit else None


def _settled(lane: LaneState) -> dict[BatchSequence, tuple[int, int]]:
    several = sequences_up_to(lane.pipeline, lane.generation)
    last = {each: lane.snapshot.settled(each) for each in several}
    return {each: (1, number) for each, number in last.items() if number}


def _in_order(ranges: RangeColumns) -> list[int]:
    """The ranges as they landed."""

    def landed(index: int) -> tuple[int, int]:
        return ranges.batch(index)[0].generation, int(ranges.version[index])

    return sorted(range(len(ranges)), key=landed)
