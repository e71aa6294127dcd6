"""The type system, as JSON has it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.decoding.decoding_table import NO, Expected, Together
from tests.decoding.type_table import NULLS, ROWS

pytestmark = pytest.mark.spark
TOGETHER = Together()


@TOGETHER.clause
def test_json_has_the_type_system() -> Expected:
    types = dict.fromkeys(row.type for row in ROWS)
    names = {each: f"c{place}" for place, each in enumerate(types)}
    ddl = ", ".join(f"{name} {each}" for each, name in names.items())
    table: dict[bytes | str, Any] = {
        f'{{"{names[row.type]}":{row.text}}}'.encode(): NO
        if row.value is NO
        else {names[row.type]: row.value}
        for row in ROWS
    }
    table |= {f'{{"{names[row.type]}":null}}'.encode(): {} for row in NULLS}
    return Expected(ddl, table)
