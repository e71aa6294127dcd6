"""`sluice status`: where the cursor is and how far it is behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import click

from sluice.broker.kafka_reader import KafkaReader
from sluice.cli.opening import opened
from sluice.cli.output import arguments, print_json, print_table
from sluice.lag import Lag, lags
from sluice.pipeline import Parts
from sluice.pipeline.committed import losses_that_count
from sluice.planning.batches import PlannedRange
from sluice.planning.ranges import TopicPartition, span_of


@click.command()
@arguments
def status(pipeline: str, as_json: bool) -> None:
    """Show cursor, last stable offset and lag per partition of PIPELINE, and its last batch."""
    parts = opened(pipeline).parts
    snapshot, history, committed = parts.progress(parts.offsets.snapshot)
    generation = history.sequence.generation
    last = history.batch(committed) if committed else None
    found = _lags(parts, history.cursor_at(committed))
    losses = losses_that_count(parts, snapshot, generation)
    lost = span_of(each.offsets for each in losses)
    unfinished = [str(batch) for batch in history.after(committed)]
    if as_json:
        print_json(
            {
                "pipeline": pipeline,
                "generation": generation,
                "last_batch": str(last) if last else None,
                "unfinished": unfinished,
                "unsettled": committed - history.settled,
                "lost": lost,
                "partitions": [_partition(each) for each in found],
            }
        )
        return
    print_table(
        f"{pipeline}: generation {generation}, last batch {last or 'none'}",
        ("partition", "cursor", "LSO", "end", "lag", "oldest unread", "held back"),
        [_row(each) for each in found],
    )
    for line in filter(None, (each.waiting for each in found)):
        click.echo(line)
    if losses:
        click.echo(f"lost: {lost:,} offsets in {len(losses):,} loss records")
    if unfinished:
        click.echo(f"planned, not committed yet: {', '.join(unfinished)}. The next run lands them.")
    if committed > history.settled:
        click.echo(f"{committed - history.settled} batches without receipt. The next run settles.")


def _lags(parts: Parts, ranges: Mapping[TopicPartition, PlannedRange]) -> list[Lag]:
    state = parts.kafka.state(parts.spec)
    cursor = {partition: planned.offsets.end for partition, planned in ranges.items()}
    behind = {
        each: cursor.get(each, log.log_start_offset)
        for each, log in state.logs.items()
        if cursor.get(each, log.log_start_offset) < log.last_stable_offset
    }
    reader = KafkaReader(parts.client)
    oldest, open_since = reader.timestamps(behind), reader.open_since(state.logs)
    return lags(cursor, state.logs, oldest, datetime.now(UTC), open_since)


def _row(lag: Lag) -> tuple[object, ...]:
    return (
        str(lag.partition),
        lag.cursor,
        lag.last_stable_offset,
        lag.end_offset,
        lag.records,
        lag.age,
        lag.held_back,
    )


def _partition(lag: Lag) -> dict[str, object]:
    return {
        "topic": lag.partition.topic,
        "partition": lag.partition.partition,
        "cursor": lag.cursor,
        "last_stable_offset": lag.last_stable_offset,
        "end_offset": lag.end_offset,
        "lag": lag.records,
        "held_back": lag.held_back,
        "held_back_since": lag.held_back_since.isoformat() if lag.held_back_since else None,
        "lag_seconds": lag.age.total_seconds() if lag.age is not None else None,
    }
