"""docs/tables.md lists the functions that a derived column may call."""

from __future__ import annotations

import re

from sluice.derived.allowed_functions import FUNCTIONS

from tests.unit.sources import ROOT

PAGE = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")


def test_the_page_lists_every_allowed_function_in_order() -> None:
    listed = PAGE.partition("and these functions: ")[2].partition(". ")[0]
    assert re.findall(r"`(\w+)`", listed) == sorted(FUNCTIONS)
