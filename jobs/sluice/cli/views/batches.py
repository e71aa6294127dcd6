"""One batch, for people and as a document: its counts, its ranges, the spec it was read with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sluice.offsets.filtered import told
from sluice.offsets.quantities import format_count, format_moment, format_ranges

if TYPE_CHECKING:
    from sluice.offsets.spec_edition import SpecEdition
    from sluice.operations.history import KnownBatch


def batch_lines(found: KnownBatch) -> Iterator[str]:
    """What is known about the batch, a line for each fact."""
    batch, settled = found.batch, found.settled
    yield f"{batch}: {format_ranges(each.offsets for each in batch.ranges)}"
    if settled is None:
        yield "  not settled yet"
    else:
        receipt = settled.receipt
        undone = "; undone by a reset" if settled.undone else ""
        yield (
            f"  {format_count(receipt.records, 'record')}, {receipt.quarantined:,} quarantined"
            f"{told(receipt.filtered)}, {receipt.gaps:,} gaps; version {receipt.data_version};"
            f" settled {settled.settled}{undone}"
        )
    if batch.complete_until:
        yield f"  complete until {format_moment(batch.complete_until)} UTC"
    if settled is None or found.planned_with != found.read_with:
        yield from _edition_lines("planned with", found.planned_with)
    if settled is not None:
        yield from _edition_lines("read with", found.read_with)


def _edition_lines(what: str, edition: SpecEdition | None) -> Iterator[str]:
    if edition is None:
        yield f"  {what}: not recorded"
        return
    yield f"  {what} spec {edition.digest}:"
    for key, value in edition.keys.items():
        yield f"    {key}: {json.dumps(value, ensure_ascii=False)}"


def edition_document(edition: SpecEdition | None) -> dict[str, object] | None:
    """Digest and keys; null where they are not recorded."""
    return None if edition is None else edition.as_dict()
