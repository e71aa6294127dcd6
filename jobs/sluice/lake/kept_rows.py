"""Kept rows: of the rows that a re-reading did not deliver, those whose records are proved gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluice.broker.port import Cluster
from sluice.lake.port import RecordsLeftOut
from sluice.offsets.log_verdicts import NEVER_A_RECORD, GapKind, Stretch
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span
from sluice.progress.log_lookup import look_up


def rows_of_nothing(
    kafka: Cluster, undelivered: Mapping[TopicPartition, Sequence[Span]]
) -> list[OffsetRange]:
    """The offsets whose rows must not stay, among those that a re-reading did not deliver.

    Raises RecordsLeftOut if Kafka holds the record anyway.
    """
    compacting = kafka.compacting({each.topic for each in undelivered}) if undelivered else ()
    found = {
        partition: look_up(kafka, partition, spans, compacts=partition.topic in compacting)
        for partition, spans in undelivered.items()
    }
    if held := _ranges_of(found, LossKind.PRESENT):
        raise RecordsLeftOut(held)
    # These rows are from another copy of the log.
    return _ranges_of(found, *NEVER_A_RECORD)


def _ranges_of(
    found: Mapping[TopicPartition, Sequence[Stretch]], *verdicts: GapKind | LossKind
) -> list[OffsetRange]:
    return [
        OffsetRange(partition, each.start, each.end)
        for partition, stretches in found.items()
        for each in stretches
        if each.verdict in verdicts
    ]
