"""The page of figures: tables come from what a bench has written, and nothing else changes."""

from __future__ import annotations

from typing import Any

import click
import pytest

from local.bench.__main__ import CONTENDERS
from local.bench.harness import circumstances
from local.bench.hot_partition import CONTENDERS as HOT
from local.bench.page import PAGE, with_figures
from local.bench.places import CONTENDERS as PLACES

MODULES = [
    f"local.bench{each}" for each in ("", ".places", ".dag_runs", ".wide_tables", ".hot_partition")
]


def stored(module: str) -> dict[str, Any]:
    table = {"title": "10 records", "lines": [["contender", "s"], ["plain", "1.5"]]}
    return {"made": circumstances(module, ["--records", "10"]), "tables": [table]}


@pytest.mark.parametrize("module", MODULES)
def test_the_tables_of_a_bench_replace_those_that_were_there(module: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    once = with_figures(page, stored(module))
    assert "**10 records**\n\n| contender | s |\n| --- | --- |\n| plain | 1.5 |" in once
    assert f"Made by `python -m {module} --records 10`" in once
    assert with_figures(once, stored(module)) == once
    assert once.partition(f"<!-- begin of {module} -->")[0] in page
    assert once.partition(f"<!-- end of {module} -->")[2] in page


def test_a_page_without_a_place_for_them_is_refused() -> None:
    with pytest.raises(click.ClickException, match="expected a place"):
        with_figures("# Performance\n", stored("local.bench"))


def test_the_page_says_what_every_contender_runs() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in (*CONTENDERS, *PLACES, *HOT) if f"`{name}`" not in page] == []
