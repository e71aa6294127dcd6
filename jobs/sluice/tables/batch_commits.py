"""Batch commits: what a commit says about its batch, in its `userMetadata` and metrics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from sluice.offsets.batch_sizes import BatchSizes
from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.filtered import NOTHING_FILTERED, FilteredOffsets
from sluice.offsets.quarantine_tickets import JudgedRecords, SetAside
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.spec_edition import SpecEdition
from sluice.tables.based_on import BasedOn
from sluice.tables.deciding_keys import only_as_dict, only_of
from sluice.tables.refusals import newer_format

_VERSION = 2
_UNKNOWN = "-"
# What a version may hold instead of a batch.
ANOTHER, OTHER_OFFSETS = "another commit", "other ones"


NamedRange = tuple[OffsetRange, str]
"""A range with its topic id."""


@dataclass(frozen=True)
class BatchCommit:
    """The commit that a batch landed in: its version, how many rows it wrote, its attempt, and
    the ranges that it names, each with its topic id. `spec` is what decided its rows, if known.
    `aside` is what it has in quarantine; None where it does not say, as before that was recorded.
    `filtered` are the offsets whose records it left out.
    """

    version: int
    rows: int
    attempt: str | None
    ranges: frozenset[NamedRange]
    spec: SpecEdition | None = None
    aside: SetAside | None = None
    filtered: FilteredOffsets = NOTHING_FILTERED

    def is_of(self, batch: Batch) -> bool:
        """Whether it names the very ranges that were planned, and not just the same number."""
        return self.ranges == {(each.offsets, each.topic_id) for each in batch.ranges}


def batch_metadata(
    batch: Batch,
    attempt: str,
    fingerprints: Mapping[TopicPartition, str | None] | None = None,
    spec: SpecEdition | None = None,
    aside: SetAside | None = None,
    filtered: FilteredOffsets = NOTHING_FILTERED,
    based_on: BasedOn | None = None,
) -> str:
    """The `userMetadata` of a batch's commit: batch, offset ranges, attempt, edition of the spec,
    and in the data table its quarantined records, the offsets that it may change if not all, those
    whose records it leaves out, and the version that it is based on.

    Neighbouring partitions of a topic share one entry, so that 10,000 fit into a commit. Range
    `[start, start + span)` of the first partition comes first, then the next one's; `fingerprints`
    has a word for each: of the record before the range's end, `-` where it is unknown.
    """
    ranges = [_entry(run, fingerprints or {}) for run in _neighbours(batch.ranges)]
    read_by = {"read_by": spec.as_dict()} if spec else {}
    put = {"quarantine": _set_aside(aside)} if aside else {}
    only = {} if batch.only is None else {"only": only_as_dict(batch.only)}
    left_out = {"filtered": filtered.as_dict()} if filtered else {}
    base = {} if based_on is None else {"based_on": based_on.as_dict()}
    told = {"attempt": attempt, **base, **read_by, **put, **only, **left_out}
    return _metadata(batch, {**told, "ranges": ranges})


def judged_metadata(batch: Batch, judged: JudgedRecords) -> str:
    """The `userMetadata` of the quarantine table's commit by which an attempt gives a batch up:
    what it has judged.
    """
    found = {"records": judged.records, "undecodable": judged.undecodable}
    return _metadata(batch, {"judged": found})


def judged_of(commit: Mapping[str, Any]) -> JudgedRecords | None:
    """What an attempt has judged that gave its batch up, by the commit (its commitInfo) with which
    it did so; None if not recorded, as before it was.
    """
    found = _sluice(commit).get("judged")
    return found and JudgedRecords(found["records"], found["undecodable"])


def _metadata(batch: Batch, told: Mapping[str, Any]) -> str:
    app = {"app_id": batch.sequence.app_id, "number": batch.number, "batch": str(batch)}
    return json.dumps({"sluice": {"version": _VERSION, **app, **told}}, separators=(",", ":"))


def _set_aside(aside: SetAside) -> dict[str, Any]:
    at = {"at": aside.at.astimezone(UTC).isoformat()} if aside.at else {}
    return {"records": aside.records, **at}


def aside_of(commit: Mapping[str, Any]) -> SetAside | None:
    """What of its batch a commit (its commitInfo) has in quarantine; None if not recorded."""
    found = _sluice(commit).get("quarantine")
    if found is None:
        return None
    at = found.get("at")
    return SetAside(found["records"], at and datetime.fromisoformat(at))


def filtered_of(commit: Mapping[str, Any]) -> FilteredOffsets:
    """The offsets whose records a commit (its commitInfo) left out."""
    return FilteredOffsets.read(_sluice(commit).get("filtered"))


def _neighbours(ranges: Iterable[PlannedRange]) -> Iterator[list[PlannedRange]]:
    """The ranges by topic and topic id, in runs of partitions without holes between them."""

    def run(numbered: tuple[int, PlannedRange]) -> tuple[str, str, int]:
        at, each = numbered
        partition = each.offsets.partition
        return partition.topic, each.topic_id, partition.partition - at

    in_order = sorted(ranges, key=lambda each: each.offsets.partition)
    for _, found in groupby(enumerate(in_order), key=run):
        yield [each for _, each in found]


def _entry(
    run: Sequence[PlannedRange], fingerprints: Mapping[TopicPartition, str | None]
) -> dict[str, Any]:
    first = run[0].offsets.partition
    words = [fingerprints.get(each.offsets.partition) or _UNKNOWN for each in run]
    return {
        "topic": first.topic,
        "topic_id": run[0].topic_id,
        "first_partition": first.partition,
        "starts": [each.offsets.start for each in run],
        "spans": [each.offsets.span for each in run],
        "fingerprints": " ".join(words),
    }


def batch_of(commit: Mapping[str, Any]) -> tuple[str, int] | None:
    """The app id and number of the batch that a commit (its commitInfo) carried, if any."""
    sluice = _sluice(commit)
    try:
        return sluice["app_id"], sluice["number"]
    except KeyError:
        return None


def instead_of(batch: Batch, commit: Mapping[str, Any]) -> str:
    """What a commit (its commitInfo) is instead of a batch's; "" where it is that."""
    if batch_of(commit) != (batch.sequence.app_id, batch.number):
        return ANOTHER
    mine = {(each.offsets, each.topic_id) for each in batch.ranges}
    return "" if mine.issuperset(named_ranges(commit)) else OTHER_OFFSETS


def attempt_of(commit: Mapping[str, Any]) -> str | None:
    """The attempt that made a commit (its commitInfo); None where it is not recorded."""
    return _sluice(commit).get("attempt")


def edition_of(commit: Mapping[str, Any]) -> SpecEdition | None:
    """What of the spec decided the rows of a commit (its commitInfo); None if not recorded."""
    return SpecEdition.read(_sluice(commit).get("read_by"))


def fingerprints_of(commit: Mapping[str, Any]) -> Mapping[TopicPartition, str]:
    """The known fingerprints in a commit (its commitInfo)."""
    return {offsets.partition: word for offsets, word in _fingerprinted(commit) if word != _UNKNOWN}


def fingerprinted_ends(commit: Mapping[str, Any]) -> Iterator[tuple[NamedRange, str]]:
    """The ranges in a commit (its commitInfo), each with the fingerprint at its end, if known."""
    both = zip(named_ranges(commit), _fingerprinted(commit), strict=True)
    return ((named, word) for named, (_, word) in both if word != _UNKNOWN)


def ranges_of(commit: Mapping[str, Any]) -> list[OffsetRange]:
    """The offset ranges of the batch that a commit (its commitInfo) carried."""
    return [offsets for offsets, _ in _fingerprinted(commit)]


def _fingerprinted(commit: Mapping[str, Any]) -> Iterator[tuple[OffsetRange, str]]:
    for entry in _sluice(commit).get("ranges", ()):
        columns = entry["starts"], entry["spans"], entry["fingerprints"].split()
        for at, (start, span, word) in enumerate(zip(*columns, strict=True)):
            partition = TopicPartition(entry["topic"], entry["first_partition"] + at)
            yield OffsetRange(partition, start, start + span), word


def _sluice(commit: Mapping[str, Any]) -> Mapping[str, Any]:
    """What Sluice wrote into a commit; empty where it is another's. Raises NewerFormat."""
    try:
        found = json.loads(commit.get("userMetadata") or "")["sluice"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    version = found.get("version") if isinstance(found, dict) else None
    if isinstance(version, int) and version > _VERSION:
        where = f"data table: commit of {found.get('batch')}"
        raise newer_format(where, "userMetadata.sluice.version", _VERSION, version)
    return found if version == _VERSION else {}


@dataclass(frozen=True)
class LoggedBatch:
    """A batch as its own commit tells it: for the time when no plan of it is left."""

    name: str
    version: int
    rows: int
    replaces: bool
    ranges: tuple[NamedRange, ...]
    only: tuple[OffsetRange, ...] | None = None
    aside: SetAside | None = None
    filtered: FilteredOffsets = NOTHING_FILTERED


def logged_batch(version: int, commit: Mapping[str, Any]) -> LoggedBatch | None:
    """The batch that a commit (its version and commitInfo) carried, if any."""
    if batch_of(commit) is None:
        return None
    written = commit.get("operationParameters") or {}
    return LoggedBatch(
        name=_sluice(commit)["batch"],
        version=version,
        rows=int((commit.get("operationMetrics") or {}).get("numOutputRows", 0)),
        replaces=written.get("mode") != "Append",
        ranges=tuple(named_ranges(commit)),
        only=only_of(_sluice(commit)),
        aside=aside_of(commit),
        filtered=filtered_of(commit),
    )


def named_ranges(commit: Mapping[str, Any]) -> Iterator[NamedRange]:
    """The ranges in a commit (its commitInfo), each with its topic id."""
    return zip(ranges_of(commit), _topic_ids_of(commit), strict=True)


def _topic_ids_of(commit: Mapping[str, Any]) -> Iterator[str]:
    """The topic id of each of its ranges."""
    for entry in _sluice(commit).get("ranges", ()):
        yield from [entry["topic_id"]] * len(entry["spans"])


_NEWEST_COMMITS = 10


def batch_sizes(uri: str) -> BatchSizes | None:
    """Rows, bytes and files of the newest batches; None where there is no basis for an estimate."""
    try:
        commits = DeltaTable(uri).history(limit=_NEWEST_COMMITS)
    except (DeltaError, OSError):
        return None
    found = BatchSizes(0, 0, 0, 0)
    for commit in filter(batch_of, commits):
        metrics = commit.get("operationMetrics", {})
        if {"numOutputRows", "numOutputBytes", "numFiles"} <= metrics.keys():
            found += BatchSizes(
                ranges=sum(1 for each in ranges_of(commit) if each.span),
                rows=int(metrics["numOutputRows"]),
                size=int(metrics["numOutputBytes"]),
                files=int(metrics["numFiles"]),
            )
    return found if found.rows and found.ranges else None
