"""`sluice status`: where the cursor is and how far it is behind."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from sluice.broker.kafka_reader import KafkaReader
from sluice.cli.opening import opened
from sluice.cli.output import arguments, print_json, print_table
from sluice.lag import Lag, lags
from sluice.pipeline import Parts
from sluice.planning.batches import Batch


@click.command()
@arguments
def status(pipeline: str, as_json: bool) -> None:
    """Show cursor, last stable offset and lag per partition of PIPELINE, and its last batch."""
    parts = opened(pipeline).parts
    _, history, committed = parts.progress(parts.offsets.snapshot)
    last = history.batch(committed) if committed else None
    found = _lags(parts, last)
    unfinished = [str(batch) for batch in history.after(committed)]
    if as_json:
        print_json(
            {
                "pipeline": pipeline,
                "generation": history.sequence.generation,
                "last_batch": str(last) if last else None,
                "unfinished": unfinished,
                "unsettled": committed - history.settled,
                "partitions": [_partition(each) for each in found],
            }
        )
        return
    print_table(
        f"{pipeline}: last batch {last or 'none'}",
        ("partition", "cursor", "LSO", "end", "lag", "oldest unread"),
        [
            (
                str(each.partition),
                each.cursor,
                each.last_stable_offset,
                each.end_offset,
                each.records,
                each.age,
            )
            for each in found
        ],
    )
    if unfinished:
        click.echo(f"planned, not committed yet: {', '.join(unfinished)}. The next run lands them.")
    if committed > history.settled:
        click.echo(f"{committed - history.settled} batches without receipt. The next run settles.")


def _lags(parts: Parts, last: Batch | None) -> list[Lag]:
    state = parts.kafka.state(parts.spec)
    cursor = {each.offsets.partition: each.offsets.end for each in last.ranges} if last else {}
    behind = {
        each: cursor.get(each, log.log_start_offset)
        for each, log in state.logs.items()
        if cursor.get(each, log.log_start_offset) < log.last_stable_offset
    }
    oldest = KafkaReader(parts.client).timestamps(behind)
    return lags(cursor, state.logs, oldest, datetime.now(UTC))


def _partition(lag: Lag) -> dict[str, object]:
    return {
        "topic": lag.partition.topic,
        "partition": lag.partition.partition,
        "cursor": lag.cursor,
        "last_stable_offset": lag.last_stable_offset,
        "end_offset": lag.end_offset,
        "lag": lag.records,
        "held_back": lag.held_back,
        "lag_seconds": lag.age.total_seconds() if lag.age is not None else None,
    }
