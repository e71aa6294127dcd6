"""docs/licences.md and the bill of materials are those of the locks."""

from __future__ import annotations

import json
from pathlib import Path

from local.jar_checksums import LIST, read_list
from local.sbom import LOCK, PAGE, all_parts, document, page


def test_the_page_of_licences_is_what_make_sbom_writes() -> None:
    assert PAGE.read_text() == page(all_parts()), "stale: run `make sbom`"


def test_every_package_and_jar_is_in_the_document_with_its_checksum() -> None:
    parts = all_parts()
    told = json.loads(document(parts))["components"]
    hashes = {each["content"] for part in told for each in part["hashes"]}
    assert set(read_list(Path(LIST).read_text()).values()) <= hashes
    locked = {line.split("==")[0] for line in LOCK.read_text().splitlines() if "==" in line[:60]}
    assert len([each for each in parts if each.kind == "pypi"]) >= len(locked)
    assert all(part["hashes"] and part["purl"] for part in told)
