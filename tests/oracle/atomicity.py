"""Invariant 4: at every version of the data table its rows are the ranges committed by then.

Judged by induction: each version may change the rows by exactly the batches whose txn it carries.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from tests.oracle.batches import FENCE, Batch
from tests.oracle.coordinates import Keys, members, repeated, some
from tests.oracle.coverage import Coverage
from tests.oracle.delta_log import TableLog, Version
from tests.oracle.evidence import Evidence, Rows, joined
from tests.oracle.violation import Violation


def net(added: Rows, removed: Rows) -> tuple[Rows, Rows]:
    """What really came and went: rows that a rewrite only moved to another file cancel out."""
    if not len(removed):
        return added, removed
    rows = joined([added, removed])
    signs = np.repeat([1, -1], [len(added), len(removed)])
    order = np.lexsort((rows.labels, rows.keys))
    keys, labels = rows.keys[order], rows.labels[order]
    changes = (np.diff(keys) != 0) | (np.diff(labels) != 0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    sums = np.add.reduceat(signs[order], starts)
    came, went = np.maximum(sums, 0), np.maximum(-sums, 0)
    firsts = Rows(keys[starts], labels[starts])
    return (
        Rows(np.repeat(firsts.keys, came), np.repeat(firsts.labels, came)),
        Rows(np.repeat(firsts.keys, went), np.repeat(firsts.labels, went)),
    )


def change(evidence: Evidence, log: TableLog, version: Version) -> tuple[Rows, Rows] | None:
    """Net rows added and removed by a version; None when its files were vacuumed away."""
    added = evidence.rows_in(log, [file.path for file in version.added])
    removed = evidence.rows_in(log, list(version.removed))
    return None if added is None or removed is None else net(added, removed)


def landed_rows(evidence: Evidence) -> dict[str, Keys]:
    """Batch label → keys of the rows that arrived with its commit, sorted."""
    found: dict[str, Keys] = {}
    labels_by_version = _landings(evidence)
    for version in evidence.data.versions:
        labels = labels_by_version.get(version.number, [])
        rows = change(evidence, evidence.data, version) if labels else None
        if rows is not None:
            keys, labels_found = rows[0].keys, rows[0].labels
            for name in labels:
                found[name] = np.sort(keys[labels_found == evidence.label(name)])
    return found


def _landings(evidence: Evidence) -> dict[int, list[str]]:
    labels: dict[int, list[str]] = defaultdict(list)
    for name, number in evidence.history.landed.items():
        labels[number].append(name)
    return labels


def quarantine_rows(evidence: Evidence) -> dict[str, Keys]:
    """Batch label → the offsets that it had in quarantine once that was closed, sorted.

    An attempt that failed may have put others aside before. Where nothing says that it was closed:
    when it landed. Of a batch that has not landed: all of them.
    """
    found = _labelled(evidence, evidence.quarantine.files)
    clock = {version.number: version.timestamp for version in evidence.data.versions}
    for name in found:
        landed_at = clock.get(evidence.history.landed.get(name, -1), 0)
        versions = [v.number for v in evidence.quarantine.versions if v.timestamp <= landed_at]
        closed = [v.number for v in evidence.quarantine.versions if _closes(v, name)]
        versions += closed[:1]
        live = evidence.quarantine.live_at(versions[-1]) if versions else set()
        if versions and all(_readable(evidence, path) is not None for path in live):
            found[name] = _labelled(evidence, live).get(name, found[name][:0])
    return found


def _closes(version: Version, label: str) -> bool:
    """Whether a version of the quarantine table closes a batch, or one behind it."""
    if not re.fullmatch(r"[a-z]+-\d+-\d+", label):
        return False
    lane, generation, number = label.split("-")
    last = (int(number) + 1) * 2**20 - 1
    suffix = f":{lane}:{generation}:quarantine"
    return any(at.endswith(suffix) and n >= last for at, n in version.transactions.items())


def _labelled(evidence: Evidence, paths: Iterable[str]) -> dict[str, Keys]:
    rows = joined([r for p in paths if (r := _readable(evidence, p))])
    order = np.argsort(rows.labels, kind="stable")
    keys, labels = rows.keys[order], rows.labels[order]
    values, starts = np.unique(labels, return_index=True)
    parts = np.split(keys, starts[1:])
    pairs = zip(values.tolist(), parts, strict=bool(len(values)))
    return {evidence.label_name(label): np.unique(part) for label, part in pairs}


def _readable(evidence: Evidence, path: str) -> Rows | None:
    return evidence.rows_in(evidence.quarantine, [path])


def atomic(evidence: Evidence, altered: frozenset[int] = frozenset()) -> Iterator[Violation]:
    """`altered` are versions that others made, as the test knows: what came and went is theirs."""
    landings, quarantined = _landings(evidence), quarantine_rows(evidence)
    before = Coverage()
    for version in evidence.data.versions:
        labels = landings.get(version.number, [])
        batches = [evidence.history.planned[n] for n in labels if n in evidence.history.planned]
        yield from _one_txn_per_commit(evidence, version, labels)
        rows = change(evidence, evidence.data, version)
        if rows is None:
            evidence.notes.append(f"data version {version.number}: files are gone, unjudged")
        elif version.number not in altered and not _is_restore(evidence.data, version):
            yield from _came(evidence, version, labels, rows[0])
            yield from _went(evidence, version, batches, rows, quarantined)
            for batch in batches:
                yield from _whole(evidence, version, batch, rows[0], quarantined)
                if any(before.meets(row) for row in batch.plan):
                    yield from _no_stale_rows(evidence, version, batch)
        for row in (row for batch in batches for row in batch.plan):
            before.add(row.place, row.start_offset, row.end_offset)


def _one_txn_per_commit(
    evidence: Evidence, version: Version, labels: list[str]
) -> Iterator[Violation]:
    where = f"data version {version.number}"
    if len(labels) > 1:
        yield Violation(4, where, "one batch in one commit", f"the txn of {', '.join(labels)}")
    for name in labels:
        if name not in evidence.history.planned:
            yield Violation(4, where, f"a plan of {name}, written ahead of its commit", "none")
    ours = f"sluice:{evidence.history.pipeline}:"
    for app, number in version.transactions.items():
        if app.startswith(ours) and number != FENCE and not labels:
            yield Violation(6, where, f"a txn of {app} above the one before", str(number))
    try:
        json.loads(version.info.get("userMetadata") or "" if labels else "{}")
    except ValueError:
        found = repr(version.info.get("userMetadata"))
        yield Violation(4, where, "userMetadata with the ranges as JSON", found)


def _is_restore(log: TableLog, version: Version) -> bool:
    """RESTORE keeps the txn and takes rows away; the state must be that of an older version."""
    if version.info.get("operation") != "RESTORE":
        return False
    live = log.live_at(version.number)
    older = [v.number for v in log.versions if v.number < version.number]
    return any(log.live_at(number) == live for number in reversed(older))


def _came(
    evidence: Evidence, version: Version, labels: list[str], rows: Rows
) -> Iterator[Violation]:
    allowed = [evidence.label(name) for name in labels]
    for label in np.unique(rows.labels[~np.isin(rows.labels, allowed)]).tolist():
        name, count = evidence.label_name(label), int((rows.labels == label).sum())
        version_of = evidence.history.landed.get(name, "none")
        yield Violation(
            4,
            f"data version {version.number}",
            f"only rows of {labels or 'no batch'}, whose txn landed here",
            f"{count} rows of {name}, whose txn landed in version {version_of}",
        )


def _went(
    evidence: Evidence,
    version: Version,
    batches: list[Batch],
    rows: tuple[Rows, Rows],
    quarantined: dict[str, Keys],
) -> Iterator[Violation]:
    """Only a replace takes rows away, and only of offsets that it has read again."""
    added, gone = (each.keys for each in rows)
    again = [quarantined.get(b.label, gone[:0]) for b in batches if b.replaces]
    read_again = np.unique(np.concatenate([*again, added if again else added[:0]]))
    strays = gone[~members(gone, read_again)]
    for name, offsets in evidence.coordinates.by_partition(strays):
        where = f"data version {version.number}, {name}"
        yield Violation(
            4, where, "rows removed only by a replace of them", f"removed {some(offsets)}"
        )


def _whole(
    evidence: Evidence, version: Version, batch: Batch, rows: Rows, quarantined: dict[str, Keys]
) -> Iterator[Violation]:
    where = f"data version {version.number}, {batch.label}"
    keys = np.sort(rows.keys[rows.labels == evidence.label(batch.label)])
    aside = quarantined.get(batch.label, keys[:0])
    outside = keys[~evidence.within(batch, keys)]
    held = evidence.held_by(batch)
    there = np.unique(np.concatenate([keys, aside, evidence.told_lost, evidence.left_out]))
    missing = held[~members(held, there)]
    for expected, found, wrong in (
        ("rows of its ranges only", "others", outside),
        ("all records of its ranges at once", "missing", missing),
        ("each row once", "repeated", repeated(keys)),
    ):
        for name, offsets in evidence.coordinates.by_partition(wrong):
            yield Violation(4, f"{where}, {name}", expected, f"{found} {some(offsets)}")


def _no_stale_rows(evidence: Evidence, version: Version, batch: Batch) -> Iterator[Violation]:
    live = evidence.rows_in(evidence.data, sorted(evidence.data.live_at(version.number)))
    if live is None:
        return
    others = live.keys[live.labels != evidence.label(batch.label)]
    stale = others[evidence.within(batch, others)]
    stale = np.sort(stale[members(stale, evidence.held)])
    for name, offsets in evidence.coordinates.by_partition(stale):
        where = f"data version {version.number}, {name}"
        expected = f"only rows of {batch.label} in its ranges"
        yield Violation(4, where, expected, f"rows of other batches {some(offsets)}")
