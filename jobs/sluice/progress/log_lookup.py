"""Lookups: what Kafka's log says about offsets that have no row, or no record."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from sluice.broker.port import Cluster
from sluice.offsets.log_verdicts import Stretch, verdicts
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.receipts import Span

log = logging.getLogger(__name__)

# Before offsets count as gone: slow tiered storage (KIP-405) answers with nothing for a while.
_PATIENCE_S = 30.0


def look_up(
    kafka: Cluster, partition: TopicPartition, wanted: Sequence[Span], *, compacts: bool
) -> list[Stretch]:
    """The wanted offsets, cut where the verdict changes; asked again where nothing is there."""
    read = partial(kafka.raw_log, partition)
    found = list(verdicts(wanted, read(wanted), compacts=compacts))
    absent = [(each.start, each.end) for each in found if each.verdict is LossKind.ABSENT]
    if not absent:
        return found
    range_of_all = OffsetRange(partition, absent[0][0], absent[-1][1])
    log.info("%s: not in the log; asking again for %g s", range_of_all, _PATIENCE_S)
    pages = read(absent, timeout=2 * _PATIENCE_S, patience=_PATIENCE_S)
    again = verdicts(absent, pages, compacts=compacts)
    return sorted([*(each for each in found if each.verdict is not LossKind.ABSENT), *again])
