"""Invariant 5: what is stored equals what was sent, byte for byte and field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.oracle.coordinates import Keys, members, some
from tests.oracle.delta_log import TableLog
from tests.oracle.evidence import IDENTITY, Evidence
from tests.oracle.json_fields import Decode, json_differences, wrongly_aside
from tests.oracle.table_files import read_live
from tests.oracle.violation import Violation

RECORD = ("_topic", "_timestamp", "_key", "_headers")
# The columns of a data table that no field of a record is; and those that begin with `_key_`.
NO_FIELDS = {*IDENTITY, *RECORD, "_tombstone", "_rescued"}


@dataclass(frozen=True)
class Pairs:
    """Stored rows and the Kafka records they came from, line by line."""

    keys: Keys
    stored: pa.Table
    sent: pa.Table

    def only(self, chosen: np.ndarray) -> Pairs:
        """The chosen lines."""
        lines = np.flatnonzero(chosen)
        return Pairs(self.keys[lines], self.stored.take(lines), self.sent.take(lines))

    def sample(self, at_most: int | None) -> Pairs:
        """Evenly spread lines; all of them when they are few enough, or for None."""
        step = -(-len(self.keys) // at_most) if at_most else 1
        return self.only(np.arange(len(self.keys)) % max(step, 1) == 0)


def _raw(value: bytes) -> dict[str, Any]:
    """Nothing is undecodable to a pipeline of format raw."""
    return {"value": value}


def _without_fields(decode: Decode) -> Decode:
    """Whether bytes can be decoded, and no more."""
    return lambda value: None if decode(value) is None else {}


def paired(evidence: Evidence, log: TableLog, extra: list[str]) -> Pairs:
    table = read_live(log, [*IDENTITY, *RECORD, *extra])
    keys = evidence.coordinates.keys(table)
    known = members(keys, evidence.held)
    places = np.searchsorted(evidence.held, keys[known])
    return Pairs(keys[known], table.filter(pa.array(known)), evidence.records.take(places))


def equal(
    evidence: Evidence, decode: Decode | None, at_most: int | None, with_fields: bool
) -> Iterator[Violation]:
    """Without a decoder the value itself is the decoded part: format raw."""
    fields = [
        name
        for name in evidence.data.schema
        if with_fields and name not in NO_FIELDS and not name.startswith("_key_")
    ]
    if decode is not None and not with_fields:
        decode = _without_fields(decode)
    if evidence.data.exists:
        pairs = paired(evidence, evidence.data, ["_tombstone", *fields])
        yield from _same_record(evidence, "data", pairs)
        yield from _same_tombstone(evidence, pairs)
        if decode is None:
            yield from _same_value(evidence, "data", pairs)
        else:
            sample = pairs.sample(at_most)
            if len(sample.keys) < len(pairs.keys):
                evidence.notes.append(f"fields compared in {len(sample.keys)} rows, evenly spread")
            yield from json_differences(evidence, sample, fields, decode)
    if evidence.quarantine.exists:
        pairs = paired(evidence, evidence.quarantine, ["value", "error"])
        yield from _same_record(evidence, "quarantine", pairs)
        yield from _same_value(evidence, "quarantine", pairs)
        yield from _has_reason(evidence, pairs)
        # What was read again since, perhaps with another schema, counts no more.
        live = pairs.only(members(pairs.keys, np.sort(evidence.live_quarantine.keys)))
        yield from wrongly_aside(evidence, live, decode or _raw)


Differ = Callable[[pa.ChunkedArray, pa.ChunkedArray], np.ndarray]


def _same_record(evidence: Evidence, table: str, pairs: Pairs) -> Iterator[Violation]:
    sent, stored = pairs.sent, pairs.stored
    sent_at = pc.multiply(sent.column("timestamp"), 1000)
    stored_at = stored.column("_timestamp").cast(pa.int64())
    for column, wrong in (
        ("_key", differ(sent.column("key"), stored.column("_key"))),
        ("_timestamp", differ(sent_at, stored_at)),
        ("_headers", headers_differ(sent.column("headers"), stored.column("_headers"))),
        ("_topic", differ(_topics(evidence, stored), stored.column("_topic"))),
    ):
        yield from report(evidence, table, column, pairs.keys[wrong])


def report(evidence: Evidence, table: str, column: str, keys: Keys) -> Iterator[Violation]:
    for name, offsets in evidence.coordinates.by_partition(keys):
        yield Violation(5, f"{table}, {name}", f"{column} as sent", f"another in {some(offsets)}")


def _topics(evidence: Evidence, stored: pa.Table) -> pa.ChunkedArray:
    """The name that belongs to each row's topic id."""
    ids = stored.column("_topic_id").combine_chunks().dictionary_encode()
    names = [evidence.coordinates.topics.get(name) for name in ids.dictionary.to_pylist()]
    return pa.chunked_array([pa.array(names, pa.string()).take(ids.indices)])


def _same_tombstone(evidence: Evidence, pairs: Pairs) -> Iterator[Violation]:
    null = pc.is_null(pairs.sent.column("value"))
    wrong = differ(null, pairs.stored.column("_tombstone"))
    yield from report(evidence, "data", "_tombstone", pairs.keys[wrong])


def _same_value(evidence: Evidence, table: str, pairs: Pairs) -> Iterator[Violation]:
    wrong = differ(pairs.sent.column("value"), pairs.stored.column("value"))
    yield from report(evidence, table, "value", pairs.keys[wrong])


def _has_reason(evidence: Evidence, pairs: Pairs) -> Iterator[Violation]:
    empty = pc.equal(pc.fill_null(pairs.stored.column("error"), ""), "")
    for name, offsets in evidence.coordinates.by_partition(pairs.keys[empty.to_numpy()]):
        where = f"quarantine, {name}"
        yield Violation(5, where, "an error that gives the reason", f"none in {some(offsets)}")


def differ(sent: pa.ChunkedArray, stored: pa.ChunkedArray) -> np.ndarray:
    """Where two columns differ; null equals null only."""
    unlike = pc.fill_null(pc.not_equal(sent, stored), False)
    one_null = pc.xor(pc.is_null(sent), pc.is_null(stored))
    return pc.or_(unlike, one_null).to_numpy()


def headers_differ(sent: pa.ChunkedArray, stored: pa.ChunkedArray) -> np.ndarray:
    """Where lists of headers differ in length, order, key or value."""
    counts = [pc.list_value_length(column) for column in (sent, stored)]
    wrong = differ(*counts)
    same = pa.array(~wrong)
    places = np.flatnonzero(~wrong)
    lists = [column.filter(same).combine_chunks() for column in (sent, stored)]
    rows = np.repeat(places, pc.fill_null(pc.list_value_length(lists[0]), 0).to_numpy())
    for part in range(2):
        mine, theirs = (pc.struct_field(one.flatten(), [part]) for one in lists)
        unlike = differ(pa.chunked_array([mine]), pa.chunked_array([theirs]))
        wrong[rows[unlike]] = True
    return wrong
