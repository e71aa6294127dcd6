"""docs/state.md: each spec and each piece of one loads, and each command is well formed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sluice.spec_folder import load_spec

from tests.unit.docs.test_operations_page import typed
from tests.worlds.state_page import excerpts, refusals, whole_specs

NAMES = ["planes", "orders", "items"]


def test_the_page_has_a_spec_of_each_kind() -> None:
    assert [*whole_specs()] == NAMES
    assert len(excerpts()) == 5


@pytest.mark.parametrize("name", NAMES)
def test_a_spec_of_the_page_loads_and_has_a_state_table(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.yaml"
    file.write_text(yaml.safe_dump(whole_specs()[name]), encoding="utf-8")
    assert load_spec(file).state is not None


@pytest.mark.parametrize("keys", excerpts(), ids=str)
def test_an_excerpt_loads_in_place_of_those_keys_of_the_spec_above_it(
    keys: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "orders.yaml"
    file.write_text(yaml.safe_dump({**whole_specs()["orders"], **keys}), encoding="utf-8")
    rules = load_spec(file).state_rules
    assert rules is not None
    assert list(rules.order_by) == keys["state"]["order_by"]


def test_each_refusal_has_a_way_out_whose_commands_are_well_formed() -> None:
    for message, ways in refusals().items():
        assert ways, message
        for way in ways:
            assert way.commands or way.state, f"{message}: expected a command or keys of the spec"
            for words in way.commands:
                assert typed(words).name in ("rebuild", "reset", "recover", "run"), words
