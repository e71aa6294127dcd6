"""Avro decoding: each record from its writer's schema to the reader's, by Spark's from_avro.

The bytes are checked first: from_avro gets only what is exactly one datum (decision 24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro_values import Conversion, Conversions
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.frames import NO_FRAME, UNKNOWN_SCHEMA, frame_of
from sluice.lake.decoding.strict_json import ERROR
from sluice.spec.avro_columns import columns_of
from sluice.spec.avro_parsing import parse_avro
from sluice.spec.avro_resolution import resolve
from sluice.spec.avro_schema import AvroSchema, Node, Record
from sluice.spec.avro_text import DATUM, READ, plain_text, reader_text, writer_text
from sluice.spec.formats import Source
from sluice.spec.registered import RegisteredSchema

# The first two are ours (jobs/jvm/AvroChecks.scala), the third is of Spark's module spark-avro.
MISFIT, UNREAD, FROM_AVRO = "sluice_avro_misfit", "sluice_avro_unread", "from_avro"
_NOT_HELD = "a value has more digits than its column"


@dataclass(frozen=True)
class Writer:
    """A schema that records are written with: alone, and in the record of two.

    `refused` says why none of its records can be read.
    """

    plain: str = ""
    around: str = ""
    any_bytes: bool = False
    refused: str = ""


def writer_of(found: RegisteredSchema, reader: AvroSchema) -> Writer:
    """The writer's schema, if it can be read as the reader's."""
    if found.kind != "AVRO":
        return Writer(refused=f"expected a schema of kind AVRO, found {found.kind}")
    try:
        written = parse_avro(found)
    except ValueError as problem:
        return Writer(refused=str(problem))
    how = resolve(written, reader)
    return Writer(plain_text(written), writer_text(written), how.any_bytes, how.refused)


class AvroRecords:
    """Records in Avro, as a reader's schema.

    With `writers`, by their keys, each record names the one that it was written with; without,
    all are written with the reader's. `nonce` is a part of names that no column has.
    """

    def __init__(
        self,
        reader: RegisteredSchema,
        writers: Mapping[str, RegisteredSchema] | None,
        source: Source,
        nonce: str,
    ) -> None:
        self._reader_name = f"schema id {reader.key}" if reader.key.isdecimal() else reader.key
        self._reader = parse_avro(reader)
        self._framed = writers is not None
        named = {reader.key: reader} if writers is None else writers
        self._writers = {key: writer_of(each, self._reader) for key, each in named.items()}
        self._source = source
        self._fields = struct_type(columns_of(self._reader))
        self._key, self._body, self._fault, self._read, self._values, self._error = (
            f"_{nonce}_{each}" for each in ("key", "body", "fault", "read", "values", "error")
        )

    def decode(self, records: DataFrame, into: str) -> DataFrame:
        """Add struct column `into`: the reader's columns, and `_error`, null where decodable.

        A step is used by the next ones many times, so Spark keeps them apart, and does each once.
        """
        frame = frame_of(self._source)
        alone = F.lit(next(iter(self._writers))), F.col(self._source)
        key, body = (frame.key, frame.body) if self._framed else alone
        steps = (self._key, self._body, self._fault, self._read, self._values, self._error)
        return (
            records.withColumns({self._key: key, self._body: body})
            .withColumn(self._fault, self._fault_in_bytes())
            .withColumn(self._read, self._read_datum())
            .withColumn(self._values, self._converted())
            .withColumn(self._error, self._first_error())
            .withColumn(into, self._decoded())
            .drop(*steps)
        )

    def _fault_in_bytes(self) -> Column:
        """Why the bytes are no datum of the writer's, or why there is no such schema."""
        key = F.col(self._key)
        unknown = F.concat(F.lit(f"{UNKNOWN_SCHEMA} "), key)
        found = self._by_writer(self._fault_of, unknown)
        nameless = F.when(key.isNull(), F.lit(NO_FRAME)).otherwise(found)
        return F.when(F.col(self._source).isNotNull(), nameless)

    def _fault_of(self, writer: Writer) -> Column:
        if writer.refused:
            refused = f" cannot be read as {self._reader_name}: {writer.refused}"
            return F.concat(self._writer_name(), F.lit(refused))
        fault = F.call_function(MISFIT, F.col(self._body), F.lit(writer.plain))
        return F.concat(self._prefix(), fault)

    def _writer_name(self) -> Column:
        return F.concat(F.lit("schema id "), F.col(self._key))

    def _prefix(self) -> Column:
        return F.concat(self._writer_name(), F.lit(": ")) if self._framed else F.lit("")

    def _read_datum(self) -> Column:
        """The record of two; null where the bytes are no datum."""
        nothing = F.when(F.lit(False), self._from_avro(writer_text(self._reader)))
        read = self._by_writer(
            lambda each: nothing if each.refused else self._from_avro(each.around), nothing
        )
        return F.when(F.col(self._source).isNotNull() & F.col(self._fault).isNull(), read)

    def _from_avro(self, writer: str) -> Column:
        options = {"avroSchema": reader_text(self._reader), "mode": "PERMISSIVE"}
        pairs = [F.lit(each) for pair in options.items() for each in pair]
        return F.call_function(FROM_AVRO, F.col(self._body), F.lit(writer), F.create_map(*pairs))

    def _unread(self, writer: Writer) -> Column:
        nothing = F.lit(None).cast("string")
        if writer.refused:
            return nothing
        reader = F.lit(reader_text(self._reader))
        return F.call_function(UNREAD, F.col(self._body), F.lit(writer.around), reader)

    def _by_writer(self, of: Callable[[Writer], Column], otherwise: Column) -> Column:
        """What the record's own writer asks for."""
        chain: Column | None = None
        for key, writer in self._writers.items():
            case = F.col(self._key) == key, of(writer)
            chain = F.when(*case) if chain is None else chain.when(*case)
        return otherwise if chain is None else chain.otherwise(otherwise)

    @cached_property
    def _columns(self) -> list[tuple[str, Column, Conversion | None]]:
        """The columns as they were read, each with the conversion that it needs."""
        datum, root = F.col(self._read)[DATUM], self._reader.named(self._reader.root)
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

    def _converted(self) -> Column:
        """A struct of the values that need a conversion; never empty."""
        values = [
            conversion.value(read).alias(name)
            for name, read, conversion in self._columns
            if conversion is not None
        ]
        return F.struct(F.lit(True).alias(""), *values)

    def _first_error(self) -> Column:
        unread = self._by_writer(self._unread, F.lit(None).cast("string"))
        failed = F.col(self._fault).isNull() & F.col(self._read)[READ].isNull()
        why = F.concat(self._prefix(), F.coalesce(unread, F.lit(_NOT_HELD)))
        misfits = [
            F.concat(
                self._prefix(),
                conversion.misfit(read, F.col(self._values)[name], F.lit(name)),
            )
            for name, read, conversion in self._columns
            if conversion is not None
        ]
        found = F.coalesce(F.col(self._fault), F.when(failed, why), *misfits)
        return F.when(F.col(self._source).isNotNull(), found)

    def _decoded(self) -> Column:
        """Not deterministic, or Spark would copy all steps into a filter on an error."""
        fits = F.col(self._error).isNull()
        values = [
            F.when(fits, read if conversion is None else F.col(self._values)[name]).alias(name)
            for name, read, conversion in self._columns
        ]
        decoded = F.struct(*values, F.col(self._error).alias(ERROR))
        there = F.col(self._source).isNotNull() & (F.spark_partition_id() >= 0)
        return F.when(there, decoded)
