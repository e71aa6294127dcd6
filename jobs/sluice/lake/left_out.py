"""Left out: the records of a batch that the spec's `only` does not mean, and their offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.decode import DECODED, Writers
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.decoding.frames import frames_of, header_of
from sluice.lake.decoding.schema_keys import SCHEMA_KEY
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.row_offsets import Offsets
from sluice.schemas.kind import kind_of
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import Format, RegisteredFormat
from sluice.spec_file.only import Only

LEFT_OUT = "_sluice_left_out"
# Ours (jobs/jvm/frames/RecordName.scala).
_RECORD_NAME = "sluice_record_name"
_PLACE = ("topic", "partition", "offset", "timestamp")
# Ours (jobs/jvm/records/Noted.scala); a note is of so many offsets.
_NOTED, _NOTE = "sluice_noted", "_sluice_note"
_BITS = 32_768


def is_left_out(only: Only, form: Format, writers: Writers) -> Column:
    """Whether a record is left out, by its bytes; false where these do not tell its kind.

    `writers` are the schemas that records may name: one that is not known yet may be the one.
    """
    if only.header is not None:
        # Not a tombstone either, if it says so: headers are all that it has.
        held = F.exists(
            F.col("headers"),
            lambda each: (
                (each["key"] == only.header)
                & (each["value"] == F.encode(F.lit(only.value), "UTF-8"))
            ),
        )
        return ~F.coalesce(held, F.lit(False))
    if only.schema_ids is not None:
        other = ~_schema_key().isin(*map(str, only.schema_ids)) & unknown_kind(only).isNull()
    else:
        assert isinstance(form, RegisteredFormat), "the spec requires it"
        frames = frames_of("value", writers, form.kind, _names_of)
        name = F.call_function(_RECORD_NAME, F.struct("value", "headers"), F.lit(frames))
        other = name != only.record
    return F.coalesce(F.col("value").isNotNull() & other, F.lit(False))


def unknown_kind(only: Only) -> Column:
    """Why the schema that a record names does not tell its kind; null where it does.

    A number is never compared with a GUID: both may be of the same schema.
    """
    key = _schema_key()
    by_guid = key.contains("-")
    told = F.lit(None).cast("string")
    for kind, this_way, expected, found in (
        (int, ~by_guid, "GUID", "number"),
        (str, by_guid, "number", "GUID"),
    ):
        if only.schema_ids is not None and not only.lists(kind):
            why = f"expected a schema's {expected}, as only.schema_ids lists, found the {found} "
            told = F.when(this_way, F.concat(F.lit(why), key, F.lit(_LIST_IT))).otherwise(told)
    return told


_LIST_IT = ": its kind is unknown; list it in only.schema_ids, or write only.record"


def with_unknown_kinds(decoded: DataFrame, only: Only) -> DataFrame:
    """The records, undecodable where nothing says of what kind they are."""
    if only.schema_ids is None or (only.lists(int) and only.lists(str)):
        return decoded
    value = DECODED["value"]
    error = F.coalesce(unknown_kind(only), F.col(value)[ERROR])
    return decoded.withColumn(value, F.col(value).withField(f"`{ERROR}`", error))


def _schema_key() -> Column:
    record = F.struct("value", "headers")
    return F.call_function(SCHEMA_KEY, record, F.lit(header_of("value")))


def _names_of(writer: RegisteredSchema) -> Mapping[str, Any] | str:
    """What is known of a schema's records; a text where nothing is."""
    try:
        names = kind_of(writer.kind).record_names(writer)
    except ValueError as problem:
        return str(problem)
    if () in names:
        return {"name": names[()]}
    return {"messages": {".".join(map(str, at)): name for at, name in names.items()}}


def with_notes(marked: DataFrame, *, drop: bool) -> DataFrame:
    """The records, and after those of each task its notes: which offsets it has left out.

    What is left out is dropped, or else has only its coordinates, as these take no room.
    """
    place = [F.col(each) for each in ("topic", "partition", "offset")]
    left_out = F.col(LEFT_OUT)
    note = F.call_function(_NOTED, left_out, left_out if drop else F.lit(False), *place)
    noted = marked.select("*", note.alias(_NOTE))
    holds = F.col(_NOTE).isNull() & ~left_out
    content = [name for name in marked.columns if name not in (*_PLACE, LEFT_OUT)]
    return noted.withColumns({each: F.when(holds, F.col(each)) for each in content})


def records_of(noted: DataFrame) -> DataFrame:
    """The records without the notes."""
    return noted.where(F.col(_NOTE).isNull()).drop(_NOTE)


def offsets_left_out(noted: DataFrame) -> Mapping[TopicPartition, Offsets]:
    """The offsets of the records that are left out, by partition: what the notes say."""
    parts: dict[TopicPartition, dict[int, NDArray[np.uint8]]] = {}
    for row in noted.where(F.col(_NOTE).isNotNull()).select(f"{_NOTE}.*").collect():
        partition = TopicPartition(row["topic"], row["partition"])
        bits = np.unpackbits(np.frombuffer(row["bits"], np.uint8), bitorder="little", count=_BITS)
        # Two tasks may have read of the same part.
        told = parts.setdefault(partition, {})
        told[row["first"]] = bits | told.get(row["first"], np.uint8(0))
    return {
        partition: np.concatenate(
            [np.flatnonzero(told[first]).astype(np.int64) + first for first in sorted(told)]
        )
        for partition, told in parts.items()
    }
