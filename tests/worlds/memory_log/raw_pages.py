"""Raw pages: a partition's log as raw fetches show it, for each question one page."""

from __future__ import annotations

from sluice.offsets.log_page import AbortedTransaction, LogPage, RecordBatch

from tests.worlds.memory_log.partition import Partition

_PAGE_BYTES = 1 << 20
_SAMPLE_BYTES = 64 * 1024


def page_at(log: Partition, start: int, end: int) -> LogPage:
    """The page from an offset on: about a megabyte, up to the LSO; `end` where nothing comes."""
    log_start, stable = log.log_start, log.last_stable_offset
    if start < log_start:
        return LogPage(start, log_start, (), (), log_start, stable)
    batches = _fetched(log, start, stable, _PAGE_BYTES)
    upto = batches[-1].next_offset if batches else end
    aborted = [
        AbortedTransaction(each.producer_id, each.first_offset)
        for each in (log.aborted(start, upto) if batches else ())
    ]
    return LogPage(start, upto, tuple(batches), tuple(aborted), log_start, stable)


def fingerprint_before(log: Partition, offset: int) -> str | None:
    """The fingerprint of the batch before an offset; None where the log has none."""
    if not log.log_start < offset <= log.end:
        return None
    found = next(log.from_offset(offset - 1, offset), None)
    return found.header.fingerprint if found else None


def bytes_per_offset(log: Partition, start: int) -> float | None:
    """The bytes per offset of the batches from an offset on; None where there are none."""
    if not log.log_start <= start < log.end:
        return None
    batches = _fetched(log, start, log.end, _SAMPLE_BYTES)
    if not batches:
        return None
    return sum(each.size for each in batches) / sum(each.span for each in batches)


def _fetched(log: Partition, start: int, end: int, size: int) -> list[RecordBatch]:
    """The batches from the one that holds an offset on: at least one, else up to the size."""
    found: list[RecordBatch] = []
    for batch in log.from_offset(start, end):
        size -= batch.header.size
        if found and size < 0:
            break
        found.append(batch.header)
    return found
