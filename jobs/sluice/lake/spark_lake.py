"""The lake of one pipeline: its data and quarantine tables, written with Spark."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sluice.columns.columns import Column
from sluice.failpoints import reach
from sluice.lake import log_ahead
from sluice.lake.batch_commit import (
    append_batch,
    append_quarantined,
    is_type_change,
    naming_conflicts,
    replace_batch,
    require_no_rows,
    retype_table,
    rows_that_stay,
    spans_of,
    undelivered,
)
from sluice.lake.batch_rows import (
    data_rows,
    decodable_rows,
    error_of,
    judged_by_rules,
    marked_by,
    quarantine_rows,
)
from sluice.lake.begun_write import begin_write
from sluice.lake.chosen_records import only_chosen
from sluice.lake.decoding.decode import Decode, decoder_of
from sluice.lake.decoding.schema_keys import unknown_keys
from sluice.lake.decoding_functions import require_decoding
from sluice.lake.former_numbers import FormerNumbers, outside
from sluice.lake.kafka_source import read_ranges
from sluice.lake.kept_rows import rows_of_nothing
from sluice.lake.left_out import (
    LEFT_OUT,
    is_left_out,
    offsets_left_out,
    records_of,
    unknown_kind,
    with_notes,
    with_unknown_kinds,
)
from sluice.lake.port import BatchAttempt, QuarantineResult, ShowReading, StateLake, Undecodable
from sluice.lake.quarantine_samples import samples_of
from sluice.lake.reading_pace import telling_pace
from sluice.lake.reported_causes import causes_of
from sluice.lake.rows_by_name import union_of_rows
from sluice.lake.table_alignment import align_data_table
from sluice.lake.table_creation import create_data_table, create_quarantine_table
from sluice.lake.write_failures import undecodable_reason
from sluice.offsets.filtered import FilteredOffsets
from sluice.progress.former_registries import FormerRegistry
from sluice.progress.resources import PipelineResources
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_rules import rules_of
from sluice.tables.delta_log import DeltaLog

log = logging.getLogger(__name__)

_LOOKED_THROUGH = ", looked through for undecodable records"


class SparkLake:
    """The tables of one pipeline, written with Spark. Implements the port `Lake`."""

    def __init__(
        self,
        spark: SparkSession,
        resources: PipelineResources,
        spec: PipelineSpec,
        show: ShowReading | None = None,
    ) -> None:
        """`spec` is that of the resources, with the schemas that records are read as."""
        self._spark = spark
        self._resources = resources
        self._show = show
        self._data = resources.data.uri
        self._quarantine = resources.quarantine.uri
        if DeltaLog(self._data).exists():
            log_ahead.before_a_commit(spark, self._data)
        stored = resources.data.snapshot().columns
        self._spec, writers = resources.schemas.with_writers(spec, stored)
        self._writers = {source: dict(found) for source, found in writers.items()}
        self._former = FormerNumbers(resources.schemas)
        require_decoding(spark, spec)
        self._decoders = self._made_decoders(self._spec)

    def prepare(self) -> None:
        """Create the data table unless it exists."""
        create_data_table(self._spark, self._data, self._spec)
        log_ahead.before_a_commit(self._spark, self._data)

    def align(self) -> None:
        """Give the data table the properties and comments that the spec has now."""
        align_data_table(self._spark, self._data, self._spec)

    def land(self, attempt: BatchAttempt) -> None:
        """Commit the batch in one pass if all is decodable; otherwise raises Undecodable.

        But first the schemas are learnt that its records name, if some are not known yet.
        """
        try:
            self._land(attempt)
        except Undecodable:
            if not self._learn(attempt):
                raise
            self.land(attempt)

    def _land(self, attempt: BatchAttempt) -> None:
        try:
            records, decoded, attempt = self._decoded_once(attempt)
            self._commit(attempt, records, data_rows(decoded, self._spec, attempt))
        except Exception as problem:
            if reason := undecodable_reason(causes_of(problem), attempt.id):
                raise Undecodable(reason) from None
            raise

    def land_decodable(self, attempt: BatchAttempt) -> None:
        """Commit the batch's decodable records; the others must already be in quarantine."""
        records, decoded, attempt = self._decoded_once(attempt)
        self._commit(attempt, records, decodable_rows(decoded, self._spec, attempt))

    def prepare_quarantine(self) -> None:
        """Create the quarantine table unless it exists."""
        create_quarantine_table(self._spark, self._quarantine, self._spec)

    def state(self) -> AbstractContextManager[StateLake]:
        """What writes the state table, while the block lasts."""
        from sluice.lake.state.spark_state import spark_state

        return spark_state(self._spark, self._resources)

    def quarantine(self, attempt: BatchAttempt) -> QuarantineResult:
        """Make the batch's undecodable records durable, with the ticket of the attempt."""
        ticket = attempt.ticket
        assert ticket is not None, "the protocol gives it"
        self._learn(attempt)
        seen = Observation("seen")
        decoded = self._chosen(self._read(attempt), attempt).observe(
            seen,
            F.count(F.lit(1)).alias("records"),
            F.count(error_of(self._spec)).alias("undecodable"),
        )
        rows = quarantine_rows(decoded, self._spec, attempt, ticket.at)
        with naming_conflicts(attempt.id), self._telling_pace(attempt, _LOOKED_THROUGH):
            append_quarantined(rows, self._quarantine, attempt, ticket)
        # First: of a write that Delta has skipped nothing was seen, and one would wait for ever.
        self._resources.quarantine.snapshot().require_added(ticket, attempt.id)
        counts = seen.get
        return QuarantineResult(
            counts["records"],
            counts["undecodable"],
            samples_of(self._spark, self._quarantine, attempt, ticket),
        )

    def _learn(self, attempt: BatchAttempt) -> bool:
        """Ask for the schemas that the batch's records name and that are not known yet.

        Returns whether any was found. It may become the one that records are read as.
        """
        if not self._writers:
            return False
        records, schemas = self._read(attempt), self._resources.schemas
        only = self._spec.only
        if only is not None and only.by_bytes and only.record is None:
            # What nothing is read of need not be known: its schema may be broken.
            records = records.where(~self._is_left_out() & unknown_kind(only).isNull())
        formerly = self._former.learn(records, self._spec.formats, attempt.former)
        met = {
            source: unknown_keys(
                records.where(outside(attempt.former, source)) if attempt.former else records,
                form,
                source,
                {*self._writers[source], *schemas.absent(form)},
            )
            for source, form in self._spec.formats.registered.items()
        }
        if not any(met.values()):
            return formerly
        spec, learnt = schemas.learn(self._spec, met, self._resources.data.snapshot().columns)
        for source, found in learnt.items():
            self._writers[source] |= found
        self._spec, self._decoders = spec, self._made_decoders(spec)
        return formerly or any(learnt.values())

    def _made_decoders(self, spec: PipelineSpec) -> list[Decode]:
        return [
            decoder_of(spec.formats, source, self._writers.get(source, {}))
            for source in spec.formats.by_source
        ]

    def _read(self, attempt: BatchAttempt) -> DataFrame:
        reach("reading")
        records = read_ranges(self._spark, self._resources.client, attempt.ranges)
        only = attempt.batch.only
        return records if only is None else only_chosen(self._spark, records, only)

    def _decoded_once(self, attempt: BatchAttempt) -> tuple[DataFrame, DataFrame, BatchAttempt]:
        """The batch's records; those to land, decoded; the attempt, which knows the others."""
        if self._spec.only is None:
            records = self._read_once(attempt)
            return records, self._judge(self._decode(records, attempt), attempt), attempt
        marked = self._mark(self._read(attempt), attempt)
        # A replacement also asks which places were read: those of other kinds lose their rows.
        noted = with_notes(marked, drop=not attempt.replaces)
        # It is used twice: for the notes of what is left out, and to land the others.
        with naming_conflicts(attempt.id), self._telling_pace(attempt):
            noted = noted.localCheckpoint()
        ranges = [each.offsets for each in attempt.batch.ranges]
        filtered = FilteredOffsets.of(ranges, offsets_left_out(noted))
        records = records_of(noted)
        decoded = self._judge(self._kept(records, attempt), attempt)
        return records, decoded, replace(attempt, filtered=filtered)

    def _chosen(self, records: DataFrame, attempt: BatchAttempt) -> DataFrame:
        """The records that the batch lands, decoded; used once."""
        if self._spec.only is None:
            return self._judge(self._decode(records, attempt), attempt)
        return self._judge(self._kept(self._mark(records, attempt), attempt), attempt)

    def _mark(self, records: DataFrame, attempt: BatchAttempt) -> DataFrame:
        """The records with what is left out marked; decoded, where their fields decide."""
        only = self._spec.only
        assert only is not None, "the caller has asked"
        if only.by_bytes:
            return records.withColumn(LEFT_OUT, self._is_left_out(attempt.former))
        condition = only.condition(self._spec.readable)
        return marked_by(self._decode(records, attempt), self._spec, attempt, condition, LEFT_OUT)

    def _is_left_out(self, former: Sequence[FormerRegistry] = ()) -> SparkColumn:
        only, form = self._spec.only, self._spec.format
        assert only is not None, "the caller has asked"
        found = is_left_out(only, form, self._writers.get("value", {}))
        return found if only.record is None else self._former.chosen(only, form, found, former)

    def _kept(self, marked: DataFrame, attempt: BatchAttempt) -> DataFrame:
        """The records that are not left out, decoded."""
        only, kept = self._spec.only, marked.where(~F.col(LEFT_OUT)).drop(LEFT_OUT)
        if only is None or not only.by_bytes:
            return kept
        return with_unknown_kinds(self._decode(kept, attempt), only)

    def _decode(self, records: DataFrame, attempt: BatchAttempt) -> DataFrame:
        formats = self._spec.formats
        for decode, source in zip(self._decoders, formats.by_source, strict=True):
            records = self._former.decode(records, decode, formats, source, attempt.former)
        return records

    def _judge(self, decoded: DataFrame, attempt: BatchAttempt) -> DataFrame:
        rules = rules_of(self._resources.data.snapshot().settings, self._columns)
        return judged_by_rules(decoded, self._spec, attempt, rules)

    @property
    def _columns(self) -> tuple[Column, ...]:
        return (*self._spec.shape.columns, *self._spec.formats.our_columns)

    def _read_once(self, attempt: BatchAttempt) -> DataFrame:
        """The batch's records. Where they are used twice, Kafka is read only once: the log cleaner
        may remove some in between, and their rows would be lost.

        Not `persist`: that reads Kafka again for what a dead executor had. A checkpoint fails.
        """
        records = self._read(attempt)
        if not (attempt.replaces and (attempt.compacts or attempt.batch.only is not None)):
            return records
        with naming_conflicts(attempt.id), self._telling_pace(attempt):
            return records.localCheckpoint()

    def _telling_pace(self, attempt: BatchAttempt, why: str = "") -> AbstractContextManager[None]:
        return telling_pace(self._spark, attempt, self._show, why)

    def _commit(self, attempt: BatchAttempt, records: DataFrame, rows: DataFrame) -> None:
        attempt = replace(attempt, spec=self._spec.edition)
        with naming_conflicts(attempt.id), self._telling_pace(attempt):
            try:
                self._write(attempt, records, rows)
            except AnalysisException as problem:
                if not is_type_change(problem):
                    raise
                attempt = begin_write(self._resources, attempt)
                stored = self._spark.read.format("delta").load(self._data)
                require_no_rows(stored, rows, self._data)
                log.info("%s: the table has no rows yet; its columns become the spec's", attempt)
                retype_table(stored, rows, self._data, attempt, self._spec)
        log_ahead.after_a_commit(self._spark, self._data)

    def _write(self, attempt: BatchAttempt, records: DataFrame, rows: DataFrame) -> None:
        if attempt.replaces:
            rows = self._with_kept(attempt, records, rows)
            reach("kept rows known")
        write = replace_batch if attempt.replaces else append_batch
        write(rows, self._data, begin_write(self._resources, attempt))

    def _with_kept(self, attempt: BatchAttempt, records: DataFrame, rows: DataFrame) -> DataFrame:
        """The rows, and those of their ranges that the batch may not replace."""
        left = undelivered(self._spark, self._data, attempt, records)
        if left is None:
            return rows
        whole = attempt.batch.only is None
        gone = rows_of_nothing(self._resources.kafka, spans_of(left)) if whole else []
        kept = rows_that_stay(self._spark, self._data, attempt, left, gone)
        return union_of_rows(rows, kept)
