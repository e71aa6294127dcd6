"""Avro decoding: each record from its writer's schema to the reader's, by Spark's from_avro.

The bytes are checked first: from_avro gets only what is exactly one datum (decision 24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro_values import Conversion, Conversions
from sluice.lake.decoding.avro_writers import REFUSED, Writer, writer_of
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.frames import frame_of, frame_refusal, mark_of
from sluice.lake.decoding.strict_json import ERROR, RESCUED
from sluice.spec.avro_columns import columns_of
from sluice.spec.avro_parsing import parse_avro
from sluice.spec.avro_schema import Node, Record
from sluice.spec.avro_text import DATUM, reading_of, schema_text
from sluice.spec.formats import Source
from sluice.spec.registered import RegisteredSchema

# The first two are ours (jobs/jvm/AvroChecks.scala), the third is of Spark's module spark-avro.
MISFIT, UNREAD, FROM_AVRO = "sluice_avro_misfit", "sluice_avro_unread", "from_avro"
_NOT_HELD = "a value has more digits than its column"


class AvroRecords:
    """Records in Avro, as a reader's schema.

    With `writers`, by their keys, each record names the one that it was written with; without,
    all are written with the reader's. `nonce` is a part of names that no column has. `rescue` keeps
    the fields that only the writer's schema has, as JSON text.
    """

    def __init__(
        self,
        reader: RegisteredSchema,
        writers: Mapping[str, RegisteredSchema] | None,
        source: Source,
        nonce: str,
        rescue: bool = False,
    ) -> None:
        self._reader = parse_avro(reader)
        self._reading = reading_of(self._reader)
        self._named = writers
        self._writers = {
            key: writer_of(each, self._reader, reader.key)
            for key, each in ({reader.key: reader} if writers is None else writers).items()
            if each.kind == "AVRO"
        }
        self._source, self._frame = F.col(source), frame_of(source)
        self._refusal = frame_refusal(self._frame, source, writers or {}, "AVRO")
        self._rescue = rescue
        self._fields = struct_type(columns_of(self._reader))
        self._mark, self._body, self._fault, self._read, self._error = (
            f"_{nonce}_{each}" for each in ("mark", "body", "fault", "read", "error")
        )
        self._names = {each.name: f"_{nonce}_{n}" for n, each in enumerate(self._fields)}

    def decode(self, records: DataFrame, into: str) -> DataFrame:
        """Add struct column `into`: the reader's columns, and `_error`, null where decodable.

        A step is used by the next ones many times, so Spark keeps them apart, and does each once.
        """
        values = {
            self._names[name]: conversion.value(read)
            for name, read, conversion in self._columns
            if conversion is not None
        }
        steps = (self._mark, self._body, self._fault, self._read, self._error)
        return (
            self._with_frame(records)
            .withColumn(self._fault, self._fault_in_bytes())
            .withColumn(self._read, self._read_datum())
            .withColumns(values)
            .withColumn(self._error, self._first_error())
            .withColumn(into, self._decoded())
            .drop(*steps, *values)
        )

    def _with_frame(self, records: DataFrame) -> DataFrame:
        if self._named is None:
            return records.withColumn(self._body, self._source)
        return records.withColumns({self._mark: self._frame.mark, self._body: self._frame.body})

    def _fault_in_bytes(self) -> Column:
        """Why the bytes are no datum of the writer's, after its name; the refusal of a frame."""
        found = self._by_writer(self._fault_of, self._refusal)
        return F.when(self._source.isNotNull(), found)

    def _fault_of(self, writer: Writer) -> Column:
        if writer.refused:
            return F.lit(writer.refused)
        return F.call_function(MISFIT, F.col(self._body), F.lit(schema_text(writer.schema)))

    def _read_datum(self) -> Column:
        """What from_avro gives; null where the bytes are no datum."""
        nothing = F.when(F.lit(False), self._from_avro(self._reading.of_writer(self._reader)))
        read = self._by_writer(
            lambda each: (
                nothing if each.refused else self._from_avro(self._reading.of_writer(each.schema))
            ),
            nothing,
        )
        return F.when(self._source.isNotNull() & F.col(self._fault).isNull(), read)

    def _from_avro(self, writer: str) -> Column:
        options = {"avroSchema": self._reading.of_reader(self._reader), "mode": "PERMISSIVE"}
        pairs = [F.lit(each) for pair in options.items() for each in pair]
        return F.call_function(FROM_AVRO, F.col(self._body), F.lit(writer), F.create_map(*pairs))

    def _by_writer(self, of: Callable[[Writer], Column], otherwise: Column) -> Column:
        """What the record's own writer asks for."""
        if self._named is None:
            return of(next(iter(self._writers.values())))
        chain: Column | None = None
        for key, writer in self._writers.items():
            case = F.col(self._mark) == F.lit(mark_of(key)), of(writer)
            chain = F.when(*case) if chain is None else chain.when(*case)
        return otherwise if chain is None else chain.otherwise(otherwise)

    @cached_property
    def _columns(self) -> list[tuple[str, Column, Conversion | None]]:
        """The columns as they were read, each with the conversion that it needs."""
        datum, root = F.col(self._read), self._reader.named(self._reader.root)
        datum = datum[DATUM] if self._reading.around else datum
        any_bytes = any(each.any_bytes for each in self._writers.values())
        conversions = Conversions(self._reader, any_bytes)
        if isinstance(root, Record):
            read: list[tuple[Node, Column]] = [(x.type, datum[x.name]) for x in root.fields]
        else:
            read = [(self._reader.root, datum)]
        return [
            (each.name, column, conversions.of(node, each.dataType))
            for each, (node, column) in zip(self._fields, read, strict=True)
        ]

    def _first_error(self) -> Column:
        """What is wrong first; the writer is only named where something is."""
        fault, witness = F.col(self._fault), F.col(self._read)[self._reading.witness]
        misfits = [
            conversion.misfit(read, F.col(self._names[name]), F.lit(name))
            for name, read, conversion in self._columns
            if conversion is not None
        ]
        unread = self._by_writer(self._unread, F.lit(None).cast("string"))
        unread = F.coalesce(unread, F.lit(_NOT_HELD))
        found = F.when(fault.isNotNull(), self._of_writer(fault)).when(
            witness.isNull(), self._of_writer(unread)
        )
        if misfits:
            first = F.coalesce(*misfits)
            found = found.when(first.isNotNull(), self._of_writer(first))
        return F.when(self._source.isNotNull(), found)

    def _unread(self, writer: Writer) -> Column:
        if writer.refused:
            return F.lit(None).cast("string")
        texts = self._reading.of_writer(writer.schema), self._reading.of_reader(self._reader)
        return F.call_function(UNREAD, F.col(self._body), *map(F.lit, texts))

    def _of_writer(self, what: Column) -> Column:
        """An error of a record with the writer's name before it, where the record names one."""
        if self._named is None:
            return what
        named = F.concat(F.lit("schema id "), self._frame.key, self._apart(what), what)
        return F.coalesce(self._refusal, named)

    def _apart(self, what: Column) -> Column:
        return F.when(what.startswith(REFUSED), F.lit(" ")).otherwise(F.lit(": "))

    def _decoded(self) -> Column:
        """Not deterministic, or Spark would copy all steps into a filter on an error."""
        nothing = F.lit(None).cast("string")
        rescued = [self._rescued().alias(RESCUED)] if self._rescue else []
        values = [
            (read if conversion is None else F.col(self._names[name])).alias(name)
            for name, read, conversion in self._columns
        ]
        error = F.col(self._error)
        nulls = [F.lit(None).cast(each.dataType).alias(each.name) for each in self._fields]
        none_rescued = [nothing.alias(RESCUED)] if self._rescue else []
        decoded = F.when(
            error.isNotNull(), F.struct(*nulls, *none_rescued, error.alias(ERROR))
        ).otherwise(F.struct(*values, *rescued, nothing.alias(ERROR)))
        return F.when(self._source.isNotNull() & (F.spark_partition_id() >= 0), decoded)

    def _rescued(self) -> Column:
        """The fields that only the writer's schema has."""
        nothing = F.lit(None).cast("string")

        def of(writer: Writer) -> Column:
            if writer.refused or writer.more is None:
                return nothing
            texts = {"avroSchema": schema_text(writer.more), "mode": "PERMISSIVE"}
            pairs = [F.lit(each) for pair in texts.items() for each in pair]
            found = F.call_function(
                FROM_AVRO,
                F.col(self._body),
                F.lit(schema_text(writer.schema)),
                F.create_map(*pairs),
            )
            return F.to_json(found, {"ignoreNullFields": "false"})

        return self._by_writer(of, nothing)
