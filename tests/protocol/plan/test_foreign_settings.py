"""What others set on the data table: each thing is fine, told, or stops the line by name."""

from __future__ import annotations

import logging

import pytest
from sluice.errors import SluiceError, SpecError, TableRefused
from sluice.operations.run_summary import summarize_plan

from tests.worlds.altered_tables import (
    FORM,
    MAPPED,
    alter,
    does_what_it_says,
    exact,
    more,
    read,
)
from tests.worlds.next_run import refused_alike
from tests.worlds.pipelines import Installed, Pipelines, Topic

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def orders(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed one batch of two records."""
    made = pipeline(topic(retention_ms=-1), format=FORM, quarantine={"max_ratio": 0.5})
    more(made, 1, 2)
    made.run()
    return made


def stops(orders: Installed, kind: type[SluiceError], *texts: str) -> str:
    """Plan, its preview and status say the same; nothing was planned."""
    before = len(orders.rows("trips__offsets"))
    with pytest.raises(kind) as problem:
        orders.plan()
    for text in texts:
        assert text in str(problem.value)
    assert str(refused_alike(orders)) == str(problem.value)
    assert len(orders.rows("trips__offsets")) == before
    return str(problem.value)


def test_a_column_that_others_renamed_or_dropped_stops_the_line(orders: Installed) -> None:
    alter(orders, MAPPED)
    renamed = alter(orders, "RENAME COLUMN note TO remark")
    more(orders, 3)
    told = stops(
        orders,
        SpecError,
        f"note STRING, which version {renamed} (RENAME COLUMN) renamed remark",
        "RENAME COLUMN remark TO note",
    )
    does_what_it_says(orders, told)
    orders.run()
    dropped = alter(orders, "DROP COLUMN amount")
    more(orders, 4)
    told = stops(orders, SpecError, f"amount DOUBLE, which version {dropped} (DROP COLUMNS) took")
    orders.write_spec(format=FORM, exclude=["amount"])
    orders.run()
    assert "amount" not in read(orders).columns
    orders.write_spec(format=FORM, exclude=[])
    does_what_it_says(orders, told)
    more(orders, 5)
    orders.run()
    assert sorted(row["amount"] or 0 for row in read(orders).collect()) == [0, 0, 0, 0, 5]
    done = orders.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_with_add_columns_it_comes_back_and_the_run_says_so(
    orders: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    orders.write_spec(format=FORM, evolution="add_columns")
    orders.run()
    alter(orders, MAPPED)
    alter(orders, "DROP COLUMN amount")
    more(orders, 3)
    with caplog.at_level(logging.WARNING):
        work = orders.plan()
    assert "gets back the column amount DOUBLE" in caplog.text
    assert "gets back the column amount" in summarize_plan(orders.open().resources, work)["said"]


def test_a_row_that_breaks_a_rule_goes_to_quarantine_with_its_name(
    orders: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    alter(orders, "ADD CONSTRAINT pos CHECK (amount >= 0)")
    alter(orders, "ADD CONSTRAINT short CHECK (length(note) < 10 OR note IS NULL)")
    more(orders, 3, -4, 5, 6)
    more(orders, 7, note='"much too long for that"')
    with caplog.at_level(logging.WARNING):
        work = orders.plan()
    assert "CHECK constraint pos (amount >= 0), set by version" in caplog.text
    assert "CHECK constraint pos" in summarize_plan(orders.open().resources, work)["said"]
    orders.run()
    assert sorted(row["_offset"] for row in orders.rows()) == [0, 1, 2, 4, 5]
    errors = {row["_offset"]: row["error"] for row in orders.quarantined()}
    assert errors.keys() == {3, 6}
    assert errors[3] == "the table's CHECK constraint pos (amount >= 0) is broken"
    assert "CHECK constraint short" in errors[6]


def test_a_rule_that_nobody_here_can_judge_stops_the_line(orders: Installed) -> None:
    version = alter(orders, "ADD CONSTRAINT odd CHECK (id % 2 = 0 OR id >= 0)")
    more(orders, 3)
    told = stops(
        orders,
        TableRefused,
        f"CHECK constraint odd (id % 2 = 0 OR id >= 0), set by version {version} (ADD CONSTRAINT)",
        "DROP CONSTRAINT `odd`",
    )
    does_what_it_says(orders, told)
    exact(orders, 3)


def test_a_rule_that_comes_between_plan_and_ingest_stops_the_batch_by_name(
    orders: Installed,
) -> None:
    more(orders, 3)
    work = orders.plan()
    alter(orders, "ADD CONSTRAINT odd CHECK (id % 2 = 0 OR id >= 0)")
    with pytest.raises(TableRefused, match="DROP CONSTRAINT `odd`"):
        orders.ingest(work)
    alter(orders, "DROP CONSTRAINT odd")
    exact(orders, 3)
