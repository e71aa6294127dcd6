"""Lag: how far the cursor is behind. Unknown is None, never 0."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sluice.offsets.partition_log import PartitionLog, Retention
from sluice.offsets.quantities import format_count, format_duration
from sluice.offsets.ranges import TopicPartition


@dataclass(frozen=True)
class Lag:
    """One partition: where the cursor is, where reading must stop, and what lies between.

    `records` counts offsets between cursor and LSO; `age` is the age of the oldest unread record.
    `held_back_since` is when the open transaction wrote its first record, which is at the LSO
    (KIP-98). `retention` is the topic's, None where it was not requested.
    """

    partition: TopicPartition
    cursor: int | None
    last_stable_offset: int | None
    end_offset: int | None
    oldest_unread: datetime | None
    now: datetime
    held_back_since: datetime | None = None
    log_start_offset: int | None = None
    retention: Retention | None = None

    @property
    def records(self) -> int | None:
        """Offsets not read yet, up to the LSO."""
        if self.cursor is None or self.last_stable_offset is None:
            return None
        return max(0, self.last_stable_offset - self.cursor)

    @property
    def held_back(self) -> int | None:
        """Offsets above the LSO, held back by an open transaction."""
        if self.last_stable_offset is None or self.end_offset is None:
            return None
        return self.end_offset - self.last_stable_offset

    @property
    def waiting(self) -> str | None:
        """What an open transaction holds back, in words; None where there is nothing."""
        if not self.held_back:
            return None
        since = self.held_back_since
        moment = f"{since:%Y-%m-%dT%H:%M:%SZ}" if since else "an unknown time"
        return (
            f"{self.partition}: {format_count(self.held_back, 'offset')} held back by an open"
            f" transaction since {moment} (offset {self.last_stable_offset})"
        )

    @property
    def age(self) -> timedelta | None:
        """Age of the oldest unread record; zero where everything is read.

        None where it is unknown: also where the record's time is still to come.
        """
        if self.records == 0:
            return timedelta(0)
        return age_at(self.now, self.oldest_unread)

    @property
    def held_back_for(self) -> timedelta | None:
        """How long an open transaction has held back offsets; None where that is unknown."""
        return age_at(self.now, self.held_back_since) if self.held_back else timedelta(0)

    @property
    def unknown_age(self) -> str:
        """Why the oldest unread record has no age, in words; empty where it has one."""
        if self.age is not None:
            return ""
        if self.oldest_unread is None:
            return f"Kafka does not say how old the unread records of {self.partition} are"
        ahead = format_duration(self.oldest_unread - self.now)
        return f"the oldest unread record of {self.partition} is dated {ahead} ahead"

    @property
    def time_to_loss(self) -> timedelta | None:
        """The shortest time until retention reaches the oldest unread record; zero: at any moment.

        None where there is nothing to lose, where records are kept for ever, and where it is
        unknown: Kafka also deletes by size, or the record has no known age.
        """
        if self.retention is None or self.retention.by_size or self.retention.period is None:
            return None
        if not self.records or self.oldest_unread is None:
            return None
        kept = self.retention.period - (self.now - self.oldest_unread)
        return max(kept, timedelta(0))

    @property
    def losable(self) -> bool:
        """Whether Kafka may delete an unread record: unless all are read, or kept for ever."""
        kept = self.retention
        for_ever = kept is not None and kept.period is None and not kept.by_size
        return self.records != 0 and not for_ever


def age_at(now: datetime, then: datetime | None) -> timedelta | None:
    """The time since a moment; None if that is unknown.

    A future moment says nothing: its clock was ahead, by an unknown amount.
    """
    return now - then if then is not None and then <= now else None


def loss_told(found: Collection[Lag]) -> str:
    """The shortest time to loss of these partitions; `at most` if that of others is unknown.

    If there is none, the reason: every record is read, or kept for ever; or else it is unknown.
    """
    known = [each.time_to_loss for each in found if each.time_to_loss is not None]
    if known:
        unknown = len(known) < sum(each.losable for each in found)
        return f"{'at most ' if unknown else ''}{format_duration(min(known))}"
    if all(each.records == 0 for each in found):
        return "all read"
    return "unknown" if any(each.losable for each in found) else "kept for ever"


def unread_from(
    cursor: Mapping[TopicPartition, int], logs: Mapping[TopicPartition, PartitionLog]
) -> Mapping[TopicPartition, int]:
    """Where what is unread begins, by partition; without a cursor that is the whole log."""
    starts = {each: cursor.get(each, log.log_start_offset) for each, log in logs.items()}
    return {each: start for each, start in starts.items() if start < logs[each].last_stable_offset}


def offsets_left(
    cursor: Mapping[TopicPartition, int], logs: Mapping[TopicPartition, PartitionLog]
) -> int:
    """Offsets between the cursor and the LSO; a partition without a cursor is not read yet."""
    unread = unread_from(cursor, logs)
    return sum(logs[each].last_stable_offset - start for each, start in unread.items())


def lags(
    cursor: Mapping[TopicPartition, int],
    logs: Mapping[TopicPartition, PartitionLog],
    oldest_unread: Mapping[TopicPartition, datetime],
    now: datetime,
    held_back_since: Mapping[TopicPartition, datetime],
    retentions: Mapping[str, Retention] | None = None,
) -> list[Lag]:
    """The lag of every partition known to the cursor or the cluster, in order."""
    return [
        Lag(
            partition=each,
            cursor=cursor.get(each),
            last_stable_offset=logs[each].last_stable_offset if each in logs else None,
            end_offset=logs[each].end_offset if each in logs else None,
            oldest_unread=oldest_unread.get(each),
            now=now,
            held_back_since=held_back_since.get(each),
            log_start_offset=logs[each].log_start_offset if each in logs else None,
            retention=(retentions or {}).get(each.topic),
        )
        for each in sorted(cursor.keys() | logs.keys())
    ]
