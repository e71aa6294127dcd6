"""Offsets are read again with the registry that they were first read with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.origin import Origin
from sluice.offsets.plan import Plan
from sluice.offsets.receipts import receipt_without_gaps
from sluice.progress.former_registries import former_lines, former_registries
from sluice.progress.lane_state import lane_state
from sluice.registry.kept_schemas import KeptSchemas
from sluice.registry.known_registries import no_registry
from sluice.registry.schema_book import SchemaBook
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaLog
from sluice.tables.offsets_appends import append_plan, append_receipt
from sluice.tables.offsets_table import OffsetsTable

from tests.unit.builders import CLUSTER, offsets, planned, sequence, spec

FORWARD = sequence()
ORIGIN = Origin("r", "a", datetime(2013, 1, 1, tzinfo=UTC))
AVRO = RegisteredSchema("5", "AVRO", '"string"')


def of_registry(name: str, key_registry: str | None = None) -> PipelineSpec:
    form = {"type": "json", "schema": "x BIGINT"}
    keys = {"key_format": {**form, "registry": key_registry}} if key_registry else {}
    return spec(format={**form, "registry": name}, **keys)


class Pipeline:
    """Its offsets table, and what it keeps of registries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept = KeptSchemas(str(folder / "t__offsets"), "orders")
        self.table = OffsetsTable(str(folder / "t__offsets"), "flights", str(folder / "none"))

    def read(
        self, start: int, end: int, by: PipelineSpec | None, of: BatchSequence = FORWARD
    ) -> None:
        """The next batch, settled."""
        number = self.table.snapshot().settled(of) + 1
        batch = Batch(of, number, "append", CLUSTER, (planned(offsets(start, end)),))
        append_plan(self.table.snapshot_to_write(), Plan((batch,)), ORIGIN)
        version = 10 * number + (of.lane == "backfill")
        receipt = replace(receipt_without_gaps(batch, version), spec=by.edition if by else None)
        append_receipt(self.table.snapshot(), receipt, ORIGIN)

    def reading(self, now: PipelineSpec, start: int, end: int) -> list[str]:
        """What is told of reading a range again."""
        lane = lane_state("flights", self.table.snapshot(), DeltaLog(str(self.folder)).snapshot())
        again = Batch(sequence(), 99, "replace", CLUSTER, (planned(offsets(start, end)),))
        book = SchemaBook(self.kept, no_registry)
        found = former_registries(now, book, lane, again)
        assert [*former_lines(now, book, lane, [again])] == [f"{again}: {each}" for each in found]
        assert not former_registries(now, book, lane, replace(again, mode="append"))
        return [str(each).partition(" are read with what was kept of ")[0] for each in found]


def test_a_registry_belongs_to_the_offsets_that_were_first_read_with_it(tmp_path: Path) -> None:
    pipeline, old, new = Pipeline(tmp_path), of_registry("old"), of_registry("new")
    pipeline.read(0, 10, old)
    pipeline.read(10, 15, old)
    pipeline.read(15, 20, new)
    assert pipeline.reading(new, 0, 30) == []
    pipeline.kept.keep("old", AVRO)
    assert pipeline.reading(new, 0, 30) == ["flights[0] [0, 15): values"]
    assert pipeline.reading(new, 5, 12) == ["flights[0] [5, 12): values"]
    assert pipeline.reading(new, 15, 30) == []
    assert pipeline.reading(old, 0, 15) == []
    pipeline.kept.keep("new", AVRO)
    assert pipeline.reading(old, 0, 30) == ["flights[0] [15, 20): values"]


def test_reading_them_again_changes_nothing_about_it(tmp_path: Path) -> None:
    pipeline, old, new = Pipeline(tmp_path), of_registry("old"), of_registry("new")
    pipeline.kept.keep("old", AVRO)
    pipeline.read(0, 10, old)
    pipeline.read(0, 10, new, sequence(lane="backfill"))
    assert pipeline.reading(new, 0, 10) == ["flights[0] [0, 10): values"]


def test_what_was_read_without_a_registry_is_no_registrys(tmp_path: Path) -> None:
    pipeline, new = Pipeline(tmp_path), of_registry("new")
    pipeline.kept.keep("old", AVRO)
    pipeline.read(0, 10, spec())
    pipeline.read(10, 20, None)
    assert pipeline.reading(new, 0, 20) == []


def test_keys_and_values_have_registries_of_their_own(tmp_path: Path) -> None:
    pipeline = Pipeline(tmp_path)
    for each in ("old", "new"):
        pipeline.kept.keep(each, AVRO)
    pipeline.read(0, 10, of_registry("new", "old"))
    assert pipeline.reading(of_registry("new", "new"), 0, 10) == ["flights[0] [0, 10): keys"]
