"""What waits in quarantine: some lines for people, a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sluice.cli.output import moment_document
from sluice.cli.views.records import document_of, undecoded
from sluice.moves import Move
from sluice.offsets.quantities import format_count, format_moment

if TYPE_CHECKING:
    from sluice.offsets.quarantined import QuarantinedRecord
    from sluice.progress.quarantine_stock import QuarantineStock
    from sluice.progress.quarantined_records import Record

    Samples = Mapping[QuarantinedRecord, Record]

# All of them are in `quarantine list`.
_SHOWN = 3


def stock_lines(pipeline: str, stock: QuarantineStock | None, samples: Samples) -> Iterator[str]:
    """How many records wait and since when, the commonest reasons with a sample, what to do."""
    if stock is None:
        yield "in quarantine: unknown, as the table cannot be read, or others have altered it"
    if not stock or stock.since is None:
        return
    wait = f"{format_count(stock.records, 'record')}, the first since {format_moment(stock.since)}"
    yield f"in quarantine: {wait} UTC"
    for reason in stock.reasons[:_SHOWN]:
        value = samples.get(reason.sample)
        shown = f": {undecoded(value)}" if value else ""
        yield f"  {reason}, such as {reason.sample}{shown}"
    more = len(stock.reasons) - _SHOWN
    rest = f"{format_count(more, 'more reason')}; " if more > 0 else ""
    listed = Move("quarantine list", (pipeline,))
    replay = Move("quarantine replay", (pipeline, "--all"))
    drop = Move("quarantine drop", (pipeline, "--all"))
    yield f"  {rest}`{listed}` shows all; `{replay}` reads them again; `{drop}` gives them up."


def stock_document(stock: QuarantineStock | None, samples: Samples) -> dict[str, object] | None:
    """The same as JSON values; null where it is unknown."""
    if stock is None:
        return None
    return {
        "records": stock.records,
        "since": moment_document(stock.since),
        "reasons": [
            {
                "reason": each.text,
                "records": each.records,
                "since": moment_document(each.since),
                "sample": document_of(samples[each.sample]) if each.sample in samples else None,
            }
            for each in stock.reasons
        ],
    }
