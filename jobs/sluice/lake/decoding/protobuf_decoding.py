"""Protobuf decoding: records' messages, decoded by Python on Spark's workers (decision 25)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyspark.cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

import sluice
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.decoding.frames import frame_of, frame_refusal
from sluice.lake.decoding.protobuf_batches import Framing, ProtobufReading, Writer
from sluice.spec.formats import ProtobufFormat, Source
from sluice.spec.protobuf_evolution import clash
from sluice.spec.protobuf_schema import message_of, messages, serialized_files
from sluice.spec.registered import RegisteredSchema

if TYPE_CHECKING:
    import pyarrow as pa
    from google.protobuf.descriptor import Descriptor

    from sluice.lake.decoding.decode import Writers

# Columns that tell the workers how a record is framed; they are dropped there.
_KEY, _IN_HEADER, _REFUSAL = "_schema_key", "_schema_header", "_schema_refusal"


class ProtobufDecoding:
    """One format's decoding. There is one reading, which is exact: messages are parsed once."""

    def __init__(self, form: ProtobufFormat, source: Source, writers: Writers, name: str) -> None:
        """`name` is the decoded column's. Raises ValueError for a reader that cannot be used."""
        if form.reader is None:
            raise LookupError(f"{form.registry}: the reader schema is not known yet")
        # Workers are sent the code itself: they have no Sluice to import.
        pyspark.cloudpickle.register_pickle_by_value(sluice)  # type: ignore[no-untyped-call]
        self._source: Source = source
        self._writers = writers
        reader = message_of(form.reader, form.record)
        self._decoded = T.StructField(
            name, struct_type(form.columns).add(ERROR, T.StringType(), nullable=True)
        )
        self.reading = ProtobufReading(
            source,
            serialized_files(reader),
            reader.full_name,
            None if form.registry is None else _framing(reader, self._writers),
            _arrow_field(self._decoded),
        )

    def decode(self, records: DataFrame) -> DataFrame:
        """The records with the decoded column."""
        reading = self.reading

        def decoded(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
            return reading(batches)

        schema = T.StructType([*records.schema.fields, self._decoded])
        if reading.framing is not None:
            frame = frame_of(self._source)
            refusal = frame_refusal(frame, self._source, self._writers, "PROTOBUF")
            records = records.withColumns(
                {_KEY: frame.key, _IN_HEADER: frame.in_header, _REFUSAL: refusal}
            )
        return records.mapInArrow(decoded, schema)


def _framing(reader: Descriptor, writers: Writers) -> Framing:
    ours = {key: each for key, each in writers.items() if each.kind == "PROTOBUF"}
    return Framing(
        _KEY, _IN_HEADER, _REFUSAL, {key: _writer(each, reader) for key, each in ours.items()}
    )


def _writer(schema: RegisteredSchema, reader: Descriptor) -> Writer:
    try:
        found = messages(message_of(schema, None).file)
    except ValueError as problem:
        return f"schema {problem}"
    for each in found.values():
        if each.full_name == reader.full_name and (difference := clash(each, reader)):
            return f"{difference} in schema {schema.key}"
    return {indexes: each.full_name for indexes, each in found.items()}


def _arrow_field(field: T.StructField) -> pa.Field:
    import pyarrow as pa

    return pa.field(field.name, to_arrow_type(field.dataType))
