"""All tables live below one root, a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.tables.warehouse import Warehouse


@pytest.mark.parametrize(
    ("root", "below"),
    [
        ("/data/lake", "/data/lake"),
        ("/data/lake/", "/data/lake"),
        ("/data/./x/../lake", "/data/lake"),
        ("/", ""),
    ],
)
def test_every_table_is_below_the_root(root: str, below: str) -> None:
    tables = Warehouse(root)
    assert tables.data("flights") == f"{below}/flights"
    assert tables.quarantine("flights") == f"{below}/flights__quarantine"
    assert tables.offsets("flights") == f"{below}/flights__offsets"


def test_a_relative_root_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Warehouse("./warehouse").data("flights") == f"{tmp_path.resolve()}/warehouse/flights"
