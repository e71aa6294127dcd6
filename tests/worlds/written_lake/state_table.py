"""The written state table of one pipeline: one commit for a span of the log, without Spark."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from sluice.clock import Chance, Clock
from sluice.errors import CommitConflict
from sluice.failpoints import reach
from sluice.lake.port import Difference, StateAttempt
from sluice.progress.resources import PipelineResources
from sluice.progress.state_trust import require_rules
from sluice.spec_file.statistics_columns import has_bounds
from sluice.state_table.collected import Collected
from sluice.state_table.commits import StateCollection, app_id
from sluice.state_table.counts import StateCounts
from sluice.state_table.spans import FileBounds

from tests.worlds.written_lake.creation import Tables
from tests.worlds.written_lake.plain_rows import rows_of
from tests.worlds.written_lake.row_order import Compared, Row, RowOrder, compared
from tests.worlds.written_lake.state import TableState, Unsupported
from tests.worlds.written_lake.state_collection import Collecting
from tests.worlds.written_lake.state_commit import StateWriting
from tests.worlds.written_lake.state_rows import Changes, StateRows

_COORDINATES = ("_topic_id", "_partition", "_offset")


@dataclass(frozen=True)
class WrittenState:
    """Implements the port `StateLake`. `switch` is told of each step at which others may come."""

    resources: PipelineResources
    clock: Clock
    chance: Chance
    switch: Callable[[str], None]

    def create(self) -> None:
        """Create the table without rows, unless it exists."""
        rules = require_rules(self.resources)
        columns = rules.columns(self.resources.data.snapshot().columns)
        with_bounds = {each.name for each in columns if has_bounds(each)}
        wanted = (*rules.key, *rules.order_by, *_COORDINATES)
        known = [each for each in dict.fromkeys(wanted) if each in with_bounds]
        tables = Tables(self.clock, self.chance)
        tables.create_state(self.resources.state.uri, self.resources.spec, columns, known)

    def follow(self, attempt: StateAttempt) -> StateCounts:
        """Make the one commit of a span; none if no row of the table changes."""
        changes, counts = self._made(attempt)
        reach("state computed")
        table = TableState(self.resources.state.uri)
        self.switch("lake: snapshot taken")
        name, outside = self.resources.spec.pipeline, (self.clock, self.chance, self.switch)
        writing = StateWriting(table, name, attempt, counts, *outside)
        if attempt.span.kind == "everything":
            writing.overwrite([row for row in changes.values() if row is not None])
        elif changes or attempt.gives_columns:
            if table.transaction(app_id(name)) != attempt.commit.after:
                raise CommitConflict("another refresh has come in between")
            writing.merge(changes)
        return counts

    def foresee(self, attempt: StateAttempt) -> StateCounts:
        """What `follow` would do; nothing is written."""
        _, counts = self._made(attempt)
        return counts

    def differing(self, attempt: StateAttempt, most: int) -> Difference:
        """The keys that have another row than the log says, and so many of them by name."""
        rows, names = self._rows(attempt), attempt.rules.key
        stored: dict[Compared, list[Row]] = defaultdict(list)
        for row in rows.state:
            stored[compared(row, names)].append(row)
        found, unordered = [], rows.unordered()
        for key in {*rows.log, *stored} - unordered:
            of_log, of_state = rows.log.get(key, []), stored.get(key, [])
            if told := rows.difference(of_log, of_state):
                found.append(f"{_shown((of_log or of_state)[0], names)}: {told}")
        return Difference(len(found), tuple(sorted(found)[:most]), len(unordered))

    def deleted(self, version: int) -> int:
        """How many deleted keys that version of the state table has: they wait to be collected."""
        table = TableState(self.resources.state.uri, version)
        return sum(row["_deleted"] for row in rows_of(table, table.files))

    def collect(self, collected: Collected, told: StateCollection) -> int:
        """Take the rows of deleted keys below these offsets away; how many they are."""
        uri = self.resources.state.uri
        return Collecting(uri, self.clock, self.chance).collect(collected, told)

    def _made(self, attempt: StateAttempt) -> tuple[Changes, StateCounts]:
        rows, span = self._rows(attempt), attempt.span
        if span.kind == "everything":
            return rows.everything()
        added = self._in_files(span.upto, span.added)
        if span.kind == "appended":
            return rows.appended(added)
        return rows.rewritten(self._in_files(span.after, span.removed), added)

    def _rows(self, attempt: StateAttempt) -> StateRows:
        state = TableState(self.resources.state.uri, attempt.commit.state_version)

        def read_log() -> list[Row]:
            log = TableState(self.resources.data.uri, attempt.span.upto)
            return rows_of(log, log.files)

        columns = attempt.rules.columns(attempt.columns)[:-1]
        order = RowOrder(attempt.rules, attempt.ranks)
        return StateRows(order, columns, read_log, rows_of(state, state.files))

    def _in_files(self, version: int, files: Iterable[FileBounds]) -> list[Row]:
        wanted = {unquote(each.path) for each in files}
        if not wanted:
            return []
        log = TableState(self.resources.data.uri, version)
        return rows_of(log, [each for each in log.files if unquote(each.path) in wanted])


def _shown(row: Row, names: Iterable[str]) -> str:
    """A key as Spark's `to_json` has it."""
    found = {name: row[name] for name in names if row[name] is not None}
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False, default=_as_text)


def _as_text(value: object) -> str:
    if not isinstance(value, bytes):
        raise Unsupported(f"a key of type {type(value).__name__}")
    return base64.b64encode(value).decode()
