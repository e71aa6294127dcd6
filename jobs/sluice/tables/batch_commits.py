"""Batch commits: what a commit says about its batch, in its `userMetadata` and metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from sluice.offsets.batch_sizes import BatchSizes
from sluice.offsets.batches import Batch
from sluice.offsets.ranges import OffsetRange, TopicPartition


@dataclass(frozen=True)
class BatchCommit:
    """The commit that a batch landed in: its version, how many rows it wrote, its attempt."""

    version: int
    rows: int
    attempt: str | None = None


def batch_metadata(
    batch: Batch, attempt: str, fingerprints: Mapping[TopicPartition, str | None] | None = None
) -> str:
    """The `userMetadata` of a batch's commit: the batch, its offset ranges and the attempt.

    Each range has the fingerprint of the record before its end, null where it is unknown.
    """
    ranges = [
        {
            "topic": each.offsets.partition.topic,
            "topic_id": each.topic_id,
            "partition": each.offsets.partition.partition,
            "start": each.offsets.start,
            "end": each.offsets.end,
            "fingerprint": (fingerprints or {}).get(each.offsets.partition),
        }
        for each in batch.ranges
    ]
    app = {"app_id": batch.sequence.app_id, "number": batch.number, "batch": str(batch)}
    return json.dumps({"sluice": {"version": 1, **app, "attempt": attempt, "ranges": ranges}})


def batch_of(commit: Mapping[str, Any]) -> tuple[str, int] | None:
    """The app id and number of the batch that a commit (its commitInfo) carried, if any."""
    sluice = _sluice(commit)
    try:
        return sluice["app_id"], sluice["number"]
    except KeyError:
        return None


def attempt_of(commit: Mapping[str, Any]) -> str | None:
    """The attempt that made a commit (its commitInfo); None where it is not recorded."""
    return _sluice(commit).get("attempt")


def fingerprints_of(commit: Mapping[str, Any]) -> Mapping[TopicPartition, str]:
    """The known fingerprints in a commit (its commitInfo)."""
    return {
        TopicPartition(each["topic"], each["partition"]): each["fingerprint"]
        for each in _sluice(commit).get("ranges", ())
        if each.get("fingerprint")
    }


def ranges_of(commit: Mapping[str, Any]) -> list[OffsetRange]:
    """The offset ranges of the batch that a commit (its commitInfo) carried."""
    return [
        OffsetRange(TopicPartition(each["topic"], each["partition"]), each["start"], each["end"])
        for each in _sluice(commit).get("ranges", ())
    ]


def _sluice(commit: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found = json.loads(commit.get("userMetadata") or "")["sluice"]
    except (ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class LoggedBatch:
    """A batch as its own commit tells it: for the time when no plan of it is left."""

    name: str
    version: int
    rows: int
    replaces: bool
    ranges: tuple[tuple[OffsetRange, str], ...]
    """Each with its topic id."""


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
        ranges=tuple(zip(ranges_of(commit), _topic_ids_of(commit), strict=True)),
    )


def _topic_ids_of(commit: Mapping[str, Any]) -> Iterator[str]:
    """The topic id of each of its ranges; an entry may hold several neighbours."""
    for each in _sluice(commit).get("ranges", ()):
        yield from [each["topic_id"]] * len(each.get("spans", "1"))


_NEWEST = 10


def batch_sizes(uri: str) -> BatchSizes | None:
    """Rows, bytes and files of the newest batches; None where there is no basis for an estimate."""
    try:
        commits = DeltaTable(uri).history(limit=_NEWEST)
    except (TableNotFoundError, DeltaError, OSError):
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
