"""The log of a state table: which of its versions are looked at, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, Transaction, write_deltalake
from sluice.errors import CommitConflict
from sluice.state_table.commits import StateCommit
from sluice.state_table.rules import StateRules
from sluice.state_table.spans import Kind
from sluice.tables.state_log import StateLog, StateSnapshot

RULES = StateRules(("id",))


def follows(table: Path, after: int, upto: int, kind: Kind, based_on: int | None) -> None:
    told = StateCommit("log", after, upto, "digest", kind, based_on, None)
    write_deltalake(
        table,
        pa.table({"id": [upto]}),
        mode="append",
        commit_properties=CommitProperties(
            custom_metadata={"userMetadata": told.text},
            app_transactions=[Transaction("sluice:p:state", upto)],
        ),
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A state table that has followed versions 1 and 2 of its log."""
    follows(tmp_path, -1, 1, "everything", None)
    follows(tmp_path, 1, 2, "appended", 0)
    return tmp_path


def snapshot(table: Path) -> StateSnapshot:
    return StateLog(str(table), "p").snapshot()


def test_a_commit_on_a_version_of_a_table_that_is_gone_shows_the_one_before_it(table: Path) -> None:
    """It is as late as the version that it was based on, which was another one."""
    follows(table, 3, 4, "appended", 2)
    found = snapshot(table).found(RULES)
    assert found is not None
    assert [each.version for each in found.versions] == [2, 1]


def test_what_came_while_all_was_written_anew_is_looked_at(table: Path) -> None:
    """Others' INSERT at that moment is no conflict: its rows stay."""
    write_deltalake(table, pa.table({"id": [9]}), mode="append")
    follows(table, 2, 3, "everything", 1)
    found = snapshot(table).found(RULES)
    assert found is not None
    assert [each.version for each in found.versions] == [3, 2]
    follows(table, 3, 4, "everything", 3)
    found = snapshot(table).found(RULES)
    assert found is not None
    assert [each.version for each in found.versions] == [4]


def test_a_merge_begins_only_where_the_table_stands_where_its_span_begins(table: Path) -> None:
    snapshot(table).require_at(2)
    with pytest.raises(CommitConflict, match="another refresh"):
        snapshot(table).require_at(1)
