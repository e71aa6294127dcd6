"""Deciding keys: the parts of a spec and a plan that decide rows, in the column `spec`. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sluice.offsets.batches import Batch
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.spec_edition import SpecEdition

# It comes first, so that a text without it need not be read.
BEGINS = '{"only":'


def deciding_keys(batch: Batch, spec: SpecEdition | None) -> str | None:
    """JSON text: the spec's edition, and the offsets that the batch may change if not all."""
    if batch.only is None:
        return str(spec) if spec else None
    told = {"only": only_as_dict(batch.only), **(spec.as_dict() if spec else {})}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def only_as_dict(ranges: Iterable[OffsetRange]) -> dict[str, dict[str, list[list[int]]]]:
    """The offsets as JSON values: runs by topic and partition."""
    only: dict[str, dict[str, list[list[int]]]] = {}
    for each in ranges:
        partitions = only.setdefault(each.partition.topic, {})
        partitions.setdefault(str(each.partition.partition), []).append([each.start, each.end])
    return only


def only_of(told: Mapping[str, Any]) -> tuple[OffsetRange, ...] | None:
    """Read them back from what `told` says; None where all of a batch's ranges are meant."""
    if "only" not in told:
        return None
    return tuple(
        OffsetRange(TopicPartition(topic, int(partition)), start, end)
        for topic, partitions in told["only"].items()
        for partition, runs in partitions.items()
        for start, end in runs
    )


def read_only(stored: Iterable[str | None]) -> tuple[OffsetRange, ...] | None:
    """Read the offsets back from a batch's rows; None where all of its ranges are meant."""
    for text in stored:
        if text and text.startswith(BEGINS):
            return only_of(json.loads(text))
    return None
