"""Protobuf batches: Arrow batches of records get the decoded column. It runs on Spark's workers.

What is here travels to them as a value: a worker needs Python, pyarrow and protobuf, not Sluice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sluice.lake.decoding.message_indexes import split_indexes
from sluice.lake.decoding.protobuf_values import Row, message_reader
from sluice.spec.protobuf_schema import Indexes, message_in

Writer = Mapping[Indexes, str] | str
"""The full names of a schema's messages; or why no record of the schema can be decoded."""


@dataclass(frozen=True)
class Framing:
    """How records name their schemas: the columns that say so, and the schemas known so far.

    `in_header` is null where the key is before the message. What has a `refusal` is not read.
    """

    key: str
    in_header: str
    refusal: str
    writers: Mapping[str, Writer]

    @property
    def columns(self) -> list[str]:
        """The columns, in this order."""
        return [self.key, self.in_header, self.refusal]


@dataclass(frozen=True)
class ProtobufReading:
    """How the values of a column become the fields of `decoded`, an Arrow struct.

    Without `framing`, a value is the message and nothing else.
    """

    source: str
    files: tuple[bytes, ...]
    message: str
    framing: Framing | None
    decoded: pa.Field

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches with the decoded column, and without those of the framing."""
        reader = message_reader(message_in(self.files, self.message))
        for batch in batches:
            values = batch.column(self.source).to_pylist()
            if self.framing is None:
                found = [None if each is None else reader(each) for each in values]
                yield batch.append_column(self.decoded, _column(self.decoded.type, found))
            else:
                framing = [batch.column(each).to_pylist() for each in self.framing.columns]
                found = [
                    self._framed(reader, self.framing.writers, *each)
                    for each in zip(values, *framing, strict=True)
                ]
                whole = batch.drop_columns(self.framing.columns)
                yield whole.append_column(self.decoded, _column(self.decoded.type, found))

    def _framed(
        self,
        reader: Callable[[bytes], Row | str],
        writers: Mapping[str, Writer],
        value: bytes | None,
        key: str,
        in_header: bytes | None,
        refusal: str | None,
    ) -> Row | str | None:
        """A framed record's row or error; None without a value."""
        if value is None or refusal is not None:
            return refusal
        writer = writers[key]
        if isinstance(writer, str):
            return writer
        after_key = value[5:] if in_header is None else in_header
        try:
            indexes, length = split_indexes(after_key)
        except ValueError as problem:
            return f"schema {key}: {problem}"
        written = writer.get(indexes, "none")
        if written != self.message:
            place = ".".join(map(str, indexes))
            return (
                f"schema {key}: expected the message {self.message}, found {written} at the"
                f" message index {place}"
            )
        return reader(after_key[length:] if in_header is None else value)


def _column(struct: pa.StructType, found: Sequence[Row | str | None]) -> pa.StructArray:
    """Rows, errors and records without a value as the struct, whose last field is the error."""
    nothing: Row = (None,) * (struct.num_fields - 1)
    rows = [(*each, None) if isinstance(each, tuple) else (*nothing, each) for each in found]
    columns = zip(*rows, strict=True) if rows else [()] * struct.num_fields
    arrays = [
        pa.array(column, type=field.type) for column, field in zip(columns, struct, strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(struct))
