"""State collection: deleted keys are taken away from a state table, as `maintain` asks."""

from __future__ import annotations

from dataclasses import dataclass

from sluice.clock import Chance, Clock
from sluice.failpoints import reach
from sluice.state_table.collected import COLLECTED, Collected
from sluice.state_table.commits import StateCollection

from tests.worlds.written_lake.commit import Committer, Draft
from tests.worlds.written_lake.conflicts import Basis, everywhere
from tests.worlds.written_lake.data_files import FileWriter, removal
from tests.worlds.written_lake.moments import milliseconds
from tests.worlds.written_lake.plain_rows import as_table, rows_of
from tests.worlds.written_lake.row_order import Row
from tests.worlds.written_lake.state import StoredFile, TableState


@dataclass(frozen=True)
class Collecting:
    """Takes rows away from one state table."""

    uri: str
    clock: Clock
    chance: Chance

    def collect(self, collected: Collected, told: StateCollection) -> int:
        """How many rows went: a property says first below which offsets they may be gone."""
        rows = len(self._gone(TableState(self.uri), collected))
        if rows:
            self._say(collected)
            reach("keys to collect")
            self._delete(collected, told)
        return rows

    def _gone(self, table: TableState, collected: Collected) -> list[Row]:
        return [row for row in rows_of(table, table.files) if _goes(row, collected)]

    def _say(self, collected: Collected) -> None:
        table, said = TableState(self.uri), {COLLECTED: collected.text}
        actions = [{"metaData": table.metadata(properties=said)}]
        draft = Draft(self.uri, table.version, "SET TBLPROPERTIES", {}, actions)
        Committer(self.clock, self.chance).commit(draft)

    def _delete(self, collected: Collected, told: StateCollection) -> None:
        table = TableState(self.uri)
        touched: list[StoredFile] = []
        copies: list[list[Row]] = []
        for file in table.files:
            rows = rows_of(table, [file])
            if any(_goes(row, collected) for row in rows):
                touched.append(file)
                copies.append([row for row in rows if not _goes(row, collected)])
        of_table = self.uri, table.schema, table.partition_by, table.statistics
        writer, now = FileWriter(*of_table, self.clock, self.chance), milliseconds(self.clock.now())
        added = writer.write([as_table(part, table.schema) for part in copies if part])
        paths = frozenset(each.path for each in touched)
        actions = [
            *({"add": each} for each in added),
            *({"remove": removal(each, now)} for each in touched),
        ]
        basis = Basis(None, everywhere, paths, paths)
        draft = Draft(
            self.uri, table.version, "DELETE", {}, actions, {}, told.text, blind=False, basis=basis
        )
        Committer(self.clock, self.chance).commit(draft)


def _goes(row: Row, collected: Collected) -> bool:
    return bool(row["_deleted"]) and row["_offset"] < collected.ends.get(row["_topic_id"], 0)
