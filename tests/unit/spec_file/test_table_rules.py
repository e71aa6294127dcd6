"""Rules that others gave a table: what rows can be judged by, and what says why they cannot."""

from __future__ import annotations

import pytest
from sluice.columns.columns import parse_columns
from sluice.columns.names import quoted
from sluice.derived.derived_columns import OURS
from sluice.spec_file.table_rules import TableRule, rules_of
from sluice.spec_file.table_settings import TableSettings

COLUMNS = (*parse_columns("id INT, amount DOUBLE, note STRING, part STRUCT<x: INT>"), *OURS)


def rules(*checks: str, not_null: tuple[tuple[str, ...], ...] = ()) -> tuple[TableRule, ...]:
    properties = {f"delta.constraints.c{n}": text for n, text in enumerate(checks)}
    return rules_of(TableSettings(properties, {}, not_null), COLUMNS)


def test_a_table_without_rules_has_none() -> None:
    assert rules() == ()


def test_a_constraint_is_judged_as_it_was_understood() -> None:
    (rule,) = rules("amount >= 0 AND note IS NOT NULL")
    assert (rule.words, rule.why_not) == (
        "CHECK constraint c0 (amount >= 0 AND note IS NOT NULL)",
        "",
    )
    assert "`amount`" in rule.sql
    assert rule.broken == f"the table's {rule.words} is broken"
    assert rule.ends_with == "DROP CONSTRAINT `c0`"


def test_what_could_fail_for_a_row_is_not_judged() -> None:
    odd = ("id % 2 = 0", "theirs > 0", "amount", "id > rand()", "id >", "id RLIKE 'x'")
    for text in (*odd, "try_parse_json(note) IS NOT NULL"):
        (rule,) = rules(text)
        assert rule.why_not, text
        assert rule.sql == "", text


def test_a_column_that_must_have_a_value() -> None:
    first, part, theirs = rules(not_null=(("amount",), ("part", "x"), ("theirs",)))
    assert (first.sql, first.why_not) == ("`amount` IS NOT NULL", "")
    assert part.why_not == "it is part of a column"
    assert part.ends_with == "ALTER COLUMN `part`.`x` DROP NOT NULL"
    assert theirs.why_not == "no record gives it a value"


@pytest.mark.parametrize("name", ["a.b", "request-id", "a`b", "İstanbul", "1st", "émoji😀"])
def test_a_rule_is_of_a_column_of_any_name(name: str) -> None:
    columns = (*parse_columns(f"{quoted(name)} INT"), *OURS)
    settings = TableSettings({f"delta.constraints.{name}": f"{quoted(name)} > 0"}, {}, ((name,),))
    null, check = rules_of(settings, columns)
    assert (null.sql, null.why_not) == (f"{quoted(name)} IS NOT NULL", "")
    assert null.ends_with == f"ALTER COLUMN {quoted(name)} DROP NOT NULL"
    assert (check.sql, check.why_not) == (f"({quoted(name)} > 0)", "")
    assert check.ends_with == f"DROP CONSTRAINT {quoted(name)}"
