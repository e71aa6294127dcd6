"""Avro decoding: each record from its writer's schema to the reader's, in one pass on the JVM.

What the pass refuses and what the columns cannot hold are the record's errors (decision 24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.avro_values import Conversion, Conversions
from sluice.lake.decoding.avro_writers import Writer, writer_of
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR, RESCUED, refused
from sluice.lake.decoding.frames import frame_of, frame_refusal, header_of, mark_of
from sluice.schemas.avro.columns import ALONE, columns_of
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.schema import Node, Record
from sluice.schemas.avro.text import schema_text
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import Source

# Ours (jobs/jvm/avro/AvroDatum.scala): the reader's fields, and ERROR.
READ_AVRO = "sluice_avro"


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
        self._reader_text = schema_text(self._reader)
        self._named = writers
        self._writers = {
            key: writer_of(each, self._reader, reader.key)
            for key, each in ({reader.key: reader} if writers is None else writers).items()
            if each.kind == "AVRO"
        }
        self._rescue = rescue
        self._fields = struct_type(columns_of(self._reader))
        steps = ("header", "mark", "body", "read", "wrong", "key", "error")
        self._steps = tuple(f"_{nonce}_{each}" for each in steps)
        self._header, self._mark, self._body, self._read, *last = self._steps
        self._wrong, self._key, self._error = last
        self._source, self._frame = F.col(source), frame_of(source, F.col(self._header))
        self._names_header = header_of(source)
        seldom = replace(self._frame, key=F.col(self._key))
        self._refusal = frame_refusal(seldom, source, writers or {}, "AVRO")
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
        return (
            self._with_frame(records)
            .withColumn(self._read, self._read_datum())
            .transform(_with_columns, values)
            .withColumn(self._wrong, self._first_wrong())
            .transform(_with_columns, self._seldom)
            .withColumn(self._error, self._told())
            .withColumn(into, self._decoded())
            .drop(*self._steps, *values)
        )

    def _with_frame(self, records: DataFrame) -> DataFrame:
        if self._named is None:
            return records.withColumn(self._body, self._source)
        return records.withColumn(self._header, self._names_header).withColumns(
            {self._mark: self._frame.mark, self._body: self._frame.body}
        )

    def _read_datum(self) -> Column:
        """The datum, and what is wrong with its bytes; null where they have no schema."""
        nothing = F.when(F.lit(False), self._read_as(self._reader_text, self._reader_text))

        def of(writer: Writer) -> Column:
            return nothing if writer.refused else self._read_of(writer)

        return F.when(self._source.isNotNull(), self._by_writer(of, nothing))

    def _read_of(self, writer: Writer) -> Column:
        return self._read_as(schema_text(writer.schema), self._reader_text)

    def _read_as(self, writer: str, reader: str) -> Column:
        return F.call_function(READ_AVRO, F.col(self._body), F.lit(writer), F.lit(reader))

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
        conversions = Conversions(self._reader)
        if isinstance(root, Record):
            read: list[tuple[Node, Column]] = [(x.type, datum[x.name]) for x in root.fields]
        else:
            read = [(self._reader.root, datum[ALONE])]
        return [
            (each.name, column, conversions.of(node, each.dataType))
            for each, (node, column) in zip(self._fields, read, strict=True)
        ]

    def _first_wrong(self) -> Column:
        """What is wrong first, without the writer's name."""
        fault = F.col(self._read)[ERROR]
        told = self._by_writer(
            lambda each: F.lit(each.refused) if each.refused else fault, F.lit("")
        )
        misfits = [
            conversion.misfit(read, F.col(self._names[name]), F.lit(name))
            for name, read, conversion in self._columns
            if conversion is not None
        ]
        found = F.coalesce(told, *misfits)
        return F.when(self._source.isNotNull(), found)

    @property
    def _seldom(self) -> dict[str, Column]:
        """The key where no schema is known: its text is large, and whole-stage code has a limit."""
        if self._named is None:
            return {}
        return {self._key: F.when(F.col(self._wrong) == "", self._frame.key)}

    def _told(self) -> Column:
        """The error, with the writer's name before it where the record names one."""
        wrong = F.col(self._wrong)
        if self._named is None:
            return wrong
        chain = F.when(wrong.isNull(), F.lit(None).cast("string")).when(wrong == "", self._refusal)
        for key, writer in self._writers.items():
            name = f"schema id {key} " if writer.refused else f"schema id {key}: "
            is_own = F.col(self._mark) == F.lit(mark_of(key))
            chain = chain.when(is_own, F.concat(F.lit(name), wrong))
        return chain

    def _decoded(self) -> Column:
        """Not deterministic, or Spark would copy all steps into a filter on an error."""
        nothing = F.lit(None).cast("string")
        error = F.col(self._error)
        wrong = refused(self._fields, error, self._rescue)
        decoded = F.when(error.isNotNull(), wrong).otherwise(self._whole(nothing))
        return F.when(self._source.isNotNull() & (F.spark_partition_id() >= 0), decoded)

    def _whole(self, nothing: Column) -> Column:
        """What is decoded of a record without an error; as it was read, if that will do."""
        if not self._rescue and all(conversion is None for _, _, conversion in self._columns):
            return F.col(self._read)
        rescued = [self._rescued().alias(RESCUED)] if self._rescue else []
        values = [
            (read if conversion is None else F.col(self._names[name])).alias(name)
            for name, read, conversion in self._columns
        ]
        return F.struct(*values, *rescued, nothing.alias(ERROR))

    def _rescued(self) -> Column:
        """The fields that only the writer's schema has."""
        nothing = F.lit(None).cast("string")

        def of(writer: Writer) -> Column:
            if writer.refused or writer.more is None:
                return nothing
            found = self._read_as(schema_text(writer.schema), schema_text(writer.more))
            fields = writer.more.named(writer.more.root)
            assert isinstance(fields, Record)
            new = F.struct(*(found[each.name].alias(each.name) for each in fields.fields))
            return F.to_json(new, {"ignoreNullFields": "false"})

        return self._by_writer(of, nothing)


def _with_columns(records: DataFrame, added: dict[str, Column]) -> DataFrame:
    """With these columns; there may be none, which a client of a Spark server does not take."""
    return records.withColumns(added) if added else records
