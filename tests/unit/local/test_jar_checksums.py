"""Every jar that is fetched is listed with its checksum; another one is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

from local.jar_checksums import LIST, differences, found_in, listed


def test_the_list_has_the_form_of_sha256sum() -> None:
    found = listed(LIST.read_text(encoding="utf-8"))
    assert {name.partition("/")[0] for name in found} == {"spark", "broker", "s3"}
    assert all(len(checksum) == 64 for checksum in found.values())
    assert list(found) == sorted(found, key=lambda name: LIST.read_text().index(name))


def test_our_own_jar_is_compiled_here_and_not_listed(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "sluice.jar").write_bytes(b"ours")
    (tmp_path / "spark" / "delta.jar").write_bytes(b"theirs")
    expected = hashlib.sha256(b"theirs").hexdigest()
    assert found_in(tmp_path, ["spark"]) == {"spark/delta.jar": expected}


def test_a_jar_that_differs_is_missing_or_is_not_listed_is_named() -> None:
    expected = {"spark/a.jar": "1", "spark/b.jar": "2", "spark/c.jar": "3"}
    found = {"spark/a.jar": "1", "spark/b.jar": "X", "spark/d.jar": "4"}
    assert differences(expected, found) == [
        "spark/b.jar: expected 2, found X",
        "spark/c.jar: expected 3, found none",
        "spark/d.jar: expected no such file, found 4",
    ]
