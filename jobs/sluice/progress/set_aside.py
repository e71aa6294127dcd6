"""Set aside: the rows of the quarantine table, without those of attempts that do not count.

Once a batch has its receipt, its quarantine is closed, and only the attempt that committed it has
rows. Before that, its commit names the attempt; for a batch that is not committed, the newest
attempt is shown. Rows that others have added belong to no batch, unless they look like its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType

from sluice.offsets.notation import parse_batch
from sluice.offsets.quarantine_tickets import SetAside
from sluice.offsets.range_columns import OffsetScope
from sluice.progress.lane_state import LaneState
from sluice.tables.coordinates import COORDINATES, StoredCoordinates, group_coordinates
from sluice.tables.quarantine_table import AT, Attempts, QuarantineSnapshot


def others_in(lane: LaneState) -> Callable[[str, Collection[datetime]], set[datetime]]:
    """Which attempts at a batch do not count, of those that have rows."""
    return partial(_gone, lane)


def places_set_aside(
    lane: LaneState,
    quarantine: QuarantineSnapshot,
    scope: OffsetScope,
    uncommitted: Attempts = MappingProxyType({}),
) -> StoredCoordinates:
    """The coordinates of these rows at some offsets, without those of more attempts."""
    if quarantine.version is None:
        return group_coordinates(COORDINATES.empty_table())

    def others(name: str, attempts: Collection[datetime]) -> set[datetime]:
        return _gone(lane, name, attempts) | {*uncommitted.get(name, ())}

    return group_coordinates(quarantine.rows_without(others, [*COORDINATES.names, AT], scope))


def uncommitted_attempts(lane: LaneState) -> Attempts:
    """The attempts that have rows of a batch with a receipt, and that did not commit it.

    None of them is there once a batch is closed, unless others bring it back. The one that did is
    among them where it has more rows than its commit says: they cannot be told apart. Where the
    data table's log no longer holds that, the receipt counts.
    """
    attempts = lane.quarantine.attempts()
    if not attempts:
        return {}
    logged = _logged(lane)
    found: dict[str, set[datetime]] = {}
    for name, moments in attempts.items():
        if not _is_ours(lane, name) or not _has_receipt(lane, name):
            continue
        aside = logged.get(name)
        if aside is None:
            counted = _counted(lane, name)
            gone = {*moments} if counted is not None and sum(moments.values()) > counted else set()
        else:
            gone = {at for at, n in moments.items() if at != aside.at or n > aside.records}
        if gone:
            found[name] = gone
    return found


def mixed_with_others(lane: LaneState, more: Attempts) -> Collection[str]:
    """Those of them of which the batch's own rows would go as well, as nothing tells which are."""
    logged = _logged(lane)
    return {
        name
        for name, moments in more.items()
        if (aside := logged.get(name)) is None or (aside.records and aside.at in moments)
    }


def _logged(lane: LaneState) -> Mapping[str, SetAside | None]:
    """The quarantine of each batch, by its commit; the newest commit of a name counts."""
    return {each.name: each.aside for each in reversed(lane.data.log.batches_in_effect())}


def _counted(lane: LaneState, name: str) -> int | None:
    """How many rows a batch has at most, by its receipt: with all that was closed uncounted.

    None where a recovery has found none.
    """
    sequence, number = parse_batch(lane.pipeline, name)
    lines = [e for r in lane.snapshot.receipts_of(sequence, number, number) for e in r.counted]
    return sum(each.quarantined + each.gaps.lost for each in lines) if lines else None


def names_of_others(lane: LaneState) -> list[str]:
    """What rows name in place of a batch of ours, as others have added them; "" for nothing."""
    found = [each for each in lane.quarantine.attempts() if not _is_ours(lane, each)]
    return sorted([*found, *([""] if lane.quarantine.nameless else [])])


def _is_ours(lane: LaneState, name: str) -> bool:
    """Whether a batch was ever planned, or is known to count."""
    try:
        sequence, number = parse_batch(lane.pipeline, name)
    except ValueError:
        return False
    if sequence.generation > lane.generation:
        return False
    return number <= max(lane.snapshot.planned(sequence), lane.committed_of(sequence))


def _has_receipt(lane: LaneState, name: str) -> bool:
    """Whether a batch counts, and has a receipt."""
    sequence, number = parse_batch(lane.pipeline, name)
    return number <= min(lane.committed_of(sequence), lane.snapshot.settled(sequence))


def _gone(lane: LaneState, name: str, attempts: Collection[datetime]) -> set[datetime]:
    """The attempts at a batch that do not count."""
    if not _is_ours(lane, name):
        return {*attempts}
    sequence, number = parse_batch(lane.pipeline, name)
    if number > lane.committed_of(sequence):
        return {*attempts} - {max(attempts)}
    if number <= lane.snapshot.settled(sequence):
        return set()
    for batch in lane.snapshot.batches(sequence, number, last=number):
        commit = lane.data.log.commit_of(batch)
        if commit is not None and commit.aside is not None:
            return {*attempts} - {commit.aside.at}
    return set()
