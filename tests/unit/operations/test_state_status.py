"""Where a state table stands, from the two logs alone: how far behind, since when, why it stops."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import StateRefused
from sluice.moves import Move, advice
from sluice.operations.state_status import StateStatus, state_status
from sluice.progress.state_trust import StateStanding
from sluice.state_table.commits import REBUILDING, StateCommit
from sluice.state_table.counts import StateCounts
from sluice.state_table.rules import StateRules
from sluice.tables.delta_log import DeltaLog
from sluice.tables.state_log import StateLog

RULES = StateRules(("id",))
COUNTS = StateCounts(inserted=2, stale=1)
ROWS = pa.table({"id": [1, 2]})
REFUSAL = advice("others wrote to it. ", Move("rebuild", ("p",)), " makes it anew.")


def append(warehouse: Path) -> None:
    write_deltalake(warehouse / "log", ROWS, mode="append")


def stand_at(warehouse: Path, version: int) -> None:
    told = StateCommit("log", -1, version, "digest", "everything", None, None, COUNTS)
    write_deltalake(
        warehouse / "state",
        ROWS,
        mode="overwrite",
        commit_properties=CommitProperties(
            custom_metadata={"userMetadata": told.text},
            app_transactions=[Transaction("sluice:p:state", version)],
        ),
    )


def standing(warehouse: Path, refusal: object = None) -> StateStanding:
    table = StateLog(str(warehouse / "state"), "p").snapshot()
    data = DeltaLog(str(warehouse / "log")).snapshot()
    refused = REFUSAL if refusal else None
    return StateStanding(RULES, data, table, table.found(RULES), True, refused)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A data table of three versions that appended, and the state of the first."""
    for _ in range(3):
        append(tmp_path)
    stand_at(tmp_path, 0)
    return tmp_path


def test_it_counts_the_versions_that_changed_rows_and_says_since_when(warehouse: Path) -> None:
    DeltaTable(warehouse / "log").optimize.compact()
    found = state_status(standing(warehouse))
    first = DeltaTable(warehouse / "log").history()[-2]["timestamp"]
    since = datetime.fromtimestamp(first / 1000, UTC)
    assert (found.stands_at, found.behind, found.since) == (0, 2, since)
    assert not found.is_up_to_date
    assert str(found) == (
        f"at version 0 of the data table, 2 versions behind since {since:%Y-%m-%d %H:%M:%S} UTC:"
        " the next run follows, or says why not; last refresh: 2 inserted, 1 stale"
    )


def test_a_state_behind_versions_that_changed_no_row_is_up_to_date(warehouse: Path) -> None:
    stand_at(warehouse, 2)
    DeltaTable(warehouse / "log").optimize.compact()
    found = state_status(standing(warehouse))
    assert (found.stands_at, found.behind, found.since) == (2, 0, None)
    assert found.is_up_to_date
    assert str(found).startswith("at version 2 of the data table; last refresh")


def test_many_versions_are_not_read_one_by_one(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sluice.operations.state_status._MOST_READ", 1)
    DeltaTable(warehouse / "log").optimize.compact()
    assert state_status(standing(warehouse)).behind == 1 + 2, "what is not read counts as changed"


def test_a_log_that_was_cleaned_up_says_not_since_when(warehouse: Path) -> None:
    DeltaTable(warehouse / "log").create_checkpoint()
    (warehouse / "log" / "_delta_log" / f"{1:020d}.json").unlink()
    found = state_status(standing(warehouse))
    assert (found.behind, found.since) == (2, None)


def test_a_refused_state_stands_nowhere_and_names_the_move(warehouse: Path) -> None:
    found = state_status(standing(warehouse, REFUSAL))
    assert (found.stands_at, found.behind, found.is_rebuilding) == (None, None, False)
    assert str(found).startswith("refused: others wrote to it. `sluice rebuild p`")
    assert found.refusal is not None
    assert found.refusal.moves == (Move("rebuild", ("p",)),)


def test_a_state_that_is_being_rebuilt_says_so(warehouse: Path) -> None:
    StateLog(str(warehouse / "state"), "p").snapshot().begin_rebuild(datetime.now(UTC))
    found = standing(warehouse, REFUSAL)
    assert found.found is not None
    assert found.found.stands_at == REBUILDING
    assert state_status(found).is_rebuilding
    assert str(state_status(found)).startswith("being rebuilt, or stopped in it: ")


def test_a_state_that_was_never_made_is_told_as_that(tmp_path: Path) -> None:
    append(tmp_path)
    found = state_status(standing(tmp_path))
    assert (found.stands_at, found.behind) == (None, 1)
    assert found.since is not None, "so that an alert can count"
    assert str(found) == "not made yet: the next run makes it, or says why not"


def test_what_cannot_be_read_is_unknown() -> None:
    assert str(StateStatus(unknown=str(StateRefused("no answer")))) == "unknown: no answer"
