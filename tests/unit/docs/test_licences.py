"""docs/licences.md lists exactly what is installed: `make sbom` writes it."""

from __future__ import annotations

import re

from local.jar_checksums import SETS
from tests.unit.sources import ROOT

PAGE = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\S+) \| (\S*\d\S*) \| (.+) \|$", PAGE, re.MULTILINE)


def test_every_package_of_the_lock_has_its_licence() -> None:
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)(?:\[.*?])?==(\S+)", lock, re.MULTILINE))
    assert {(name, version) for name, version, _ in ROWS if ":" not in name} == pinned


def test_every_jar_has_its_licence() -> None:
    jars = {name for each in SETS for name in each.listed}
    stated = {f"{name.partition(':')[2]}-{version}.jar" for name, version, _ in ROWS if ":" in name}
    assert stated == jars


def test_no_licence_is_left_open() -> None:
    assert [name for name, _, licence in ROWS if licence == "not stated"] == []
