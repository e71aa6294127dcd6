"""The mutations: each breaks one rule of the protocol, and names what the oracle must then find."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A piece of a source below `jobs/sluice/`, and what it is replaced by.

    `scenario` shows the difference; `broken` are the invariants of which one at least must be red.
    """

    name: str
    file: str
    old: str
    new: str
    scenario: str
    broken: frozenset[int]


def _mutation(name: str, file: str, old: str, new: str, scenario: str, *broken: int) -> Mutation:
    return Mutation(name, file, old, new, scenario, frozenset(broken))


MUTATIONS = (
    _mutation(
        "plans up to the high watermark",
        "broker/cluster.py",
        "OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)",
        "OffsetSpec.latest())",
        "an open transaction",
        3,
    ),
    _mutation(
        "plans anew instead of adopting",
        "progress/lane_state.py",
        "        return self.history.after(max(self.committed, self.history.settled))\n",
        "        return ()\n",
        "a plan that was left",
        1,
        4,
        10,
    ),
    _mutation(
        "plans without compare-and-set",
        "tables/offsets_snapshot.py",
        "if self._newest(app_id) != expected:",
        "if False:",
        "two planners",
        3,
    ),
    _mutation(
        "commits without a transaction id",
        "lake/batch_commit.py",
        '.option("txnAppId", batch.sequence.app_id)',
        '.option("txnAppId", "sluice:other")',
        "the same batch twice",
        2,
        4,
    ),
    _mutation(
        "reads what was not committed",
        "lake/kafka_source.py",
        '"kafka.isolation.level": "read_committed"',
        '"kafka.isolation.level": "read_uncommitted"',
        "an aborted transaction",
        7,
    ),
    _mutation(
        "reads one record less",
        "lake/kafka_source.py",
        "{each: each.end for each in wanted}",
        "{each: each.end - 1 for each in wanted}",
        "plain records",
        1,
        4,
    ),
    _mutation(
        "writes receipts unseen",
        "protocol/settle/counting.py",
        'whole = commit.rows == batch.span and batch.mode == "append"',
        "whole = commit.rows <= batch.span",
        "an aborted transaction",
        8,
    ),
    _mutation(
        "takes markers for compacted records",
        "protocol/settle/gaps.py",
        "GapKind.CONTROL if batch.is_control else GapKind.ABORTED",
        "GapKind.COMPACTED",
        "an aborted transaction",
        8,
    ),
    _mutation(
        "drops what it cannot decode",
        "lake/batch_rows.py",
        "return decoded.where(error_of(spec).isNotNull()).select(",
        "return decoded.where(error_of(spec).isNull() & error_of(spec).isNotNull()).select(",
        "a malformed record",
        1,
    ),
    _mutation(
        "appends what it reads again",
        "lake/port.py",
        'return self.batch.mode == "replace" and',
        "return False and",
        "a rewind",
        2,
    ),
    _mutation(
        "forgets what earlier generations reached",
        "protocol/plan/next_batches.py",
        'return "replace" if any(map(reach.covers, ranges)) else "append"',
        'return "append"',
        "a rewind",
        2,
    ),
    _mutation(
        "replaces more than it reads again",
        "lake/predicate.py",
        " AND _offset >= {offsets.start} AND _offset < {offsets.end}",
        " AND _offset >= 0",
        "a backfill of the middle",
        1,
        4,
    ),
    _mutation(
        "takes another copy of the log for the one that was read",
        "protocol/plan/fingerprints.py",
        "if before is not None and now is not None and before != now:",
        "if False:",
        "a log that was replaced",
        1,
        4,
        5,
    ),
    _mutation(
        "compares no log at the beginning of a generation",
        "progress/lane_state.py",
        "        return self.last or self.reach.newest\n",
        "        return self.last\n",
        "a log that was replaced after a reset",
        1,
        4,
        5,
    ),
    _mutation(
        "reads again above the cursor",
        "operations/backfill/readable.py",
        "        again, ahead = _split(rest, end)\n",
        "        again, ahead = rest, rest.first(0)\n",
        "a backfill",
        2,
        3,
    ),
    _mutation(
        "resets without a fence",
        "operations/reset/close_generation.py",
        "            _close(resources, lane, [*lane.unfenced, *intended.closes])\n",
        "            pass\n",
        "a zombie after a reset",
        2,
        6,
        # The next look misses the fence, and stops the line.
        10,
    ),
    _mutation(
        "passes over a loss in silence",
        "protocol/plan/next_batches.py",
        "return Plan(_batches(pieces, history, state, reach), (*lost, *skips))",
        "return Plan(_batches(pieces, history, state, reach))",
        "records that retention took",
        3,
        9,
    ),
    _mutation(
        "goes on behind a RESTORE",
        "progress/unaltered.py",
        "    if restored:",
        "    if False:",
        "a restored table",
        1,
    ),
    _mutation(
        "trusts whatever table is there",
        "progress/lane_state.py",
        "        state.known.require(state.data)\n",
        "        pass\n",
        "a table put back after a reset",
        6,
        8,
    ),
    _mutation(
        "takes a new topic for the old one",
        "protocol/plan/log_changes.py",
        "    if log.topic_id != last.topic_id:",
        "    if False:",
        "a topic created anew",
        3,
        9,
    ),
    _mutation(
        "mirrors what is only planned",
        "protocol/settle/mirror.py",
        "resources.spec.consumer_group, lane.positions\n",
        "resources.spec.consumer_group, {\n"
        "        each: at.offsets.end for each, at in lane.history.cursor.items()\n"
        "    }\n",
        "a plan that nobody has landed",
        6,
    ),
    _mutation(
        "counts nothing once the commit's files are gone",
        "tables/delta_log.py",
        "commit.version))\n        except UNREADABLE as",
        "commit.version))\n        except TableRefused as",
        "files vacuumed before the receipt",
        8,
    ),
    _mutation(
        "takes what Kafka holds for lost",
        "offsets/losses.py",
        "return LossCause(kind) if kind in BY_POLICY else None",
        "return LossCause(kind)",
        "a record left out",
        1,
        9,
    ),
)
