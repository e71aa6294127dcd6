"""The engine that is no Spark: it opens a pipeline's tables for writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sluice.clock import SYSTEM_CHANCE, SYSTEM_CLOCK, Chance, Clock
from sluice.columns.columns import Decimal, Primitive
from sluice.lake.port import Lake, ShowReading, StateLake, Upkeep
from sluice.progress.readers import spec_to_land
from sluice.progress.resources import PipelineResources
from sluice.spec_file.formats import JsonFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.plain_formats import RawFormat

from tests.worlds.written_lake.lake import WrittenLake
from tests.worlds.written_lake.records import ReadRecords
from tests.worlds.written_lake.state import Unsupported
from tests.worlds.written_lake.state_table import WrittenState
from tests.worlds.written_lake.upkeep import WrittenUpkeep

_PARTITIONS = ("STRING", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT")


def _go_on(_: str) -> None:
    """What is done at a step where nobody else comes."""


@dataclass(frozen=True)
class WrittenEngine:
    """Implements the port `Engine`. `switch` is called with the name of each step of a commit."""

    read_records: ReadRecords
    clock: Clock = SYSTEM_CLOCK
    chance: Chance = SYSTEM_CHANCE
    switch: Callable[[str], None] = _go_on

    @contextmanager
    def lake(
        self,
        resources: PipelineResources,
        offsets: int | None,
        show: ShowReading | None = None,
    ) -> Iterator[Lake]:
        """The lake that batches land in. Raises Unsupported for a spec that is Spark's alone."""
        spec = spec_to_land(resources)
        _require_supported(spec)
        stored = {each.name: each.type for each in resources.data.snapshot().columns}
        for each in spec.columns:
            if stored.get(each.name, each.type) != each.type:
                raise Unsupported(f"{each.name}: another type than in the table")
        clock, chance = self.clock, self.chance
        yield WrittenLake(resources, spec, self.read_records, clock, chance, self.switch)

    @contextmanager
    def upkeep(self, resources: PipelineResources) -> Iterator[Upkeep]:
        """What removes rows and files."""
        outside = self.clock, self.chance, self.switch
        yield WrittenUpkeep(resources.quarantine.uri, *outside, lambda: self.state(resources))

    @contextmanager
    def state(self, resources: PipelineResources) -> Iterator[StateLake]:
        """What writes the state table."""
        yield WrittenState(resources, self.clock, self.chance, self.switch)


def _require_supported(spec: PipelineSpec) -> None:
    form = spec.format
    kinds = {each.name: each.type for each in (*spec.shape.columns, *spec.formats.our_columns)}
    refused = {
        "format": not isinstance(form, RawFormat | JsonFormat),
        "format.registry": isinstance(form, JsonFormat) and form.schema_text is None,
        "registry": bool(spec.formats.registered),
        "format.schema: nested": isinstance(form, JsonFormat)
        and not all(isinstance(each.type, Primitive | Decimal) for each in spec.columns),
        "key_format": spec.key_format is not None,
        "rescue": spec.rescue,
        "derived": bool(spec.derived),
        "columns": bool(spec.column_sources),
        "required": bool(spec.required),
        "cluster_by": bool(spec.cluster_by),
        "evolution: widen": spec.evolution == "widen",
        "delta.enableChangeDataFeed": "delta.enableChangeDataFeed" in spec.properties,
        "partition_by": not all(str(kinds[each]) in _PARTITIONS for each in spec.partition_by),
    }
    if found := [key for key, is_refused in refused.items() if is_refused]:
        raise Unsupported(f"the written lake does not do {', '.join(found)}: use Spark")
