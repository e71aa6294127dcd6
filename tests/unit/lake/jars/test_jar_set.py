"""A set of jars is what its list names, each with its checksum; another one is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from sluice.lake.jars.jar_set import S3, SPARK, JarSet

from local.embedded.broker_jars import BROKER


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def jars(tmp_path: Path) -> JarSet:
    """Two jars, and one of our own."""
    own = tmp_path / "sluice.jar"
    own.write_bytes(b"ours")
    checksums = tmp_path / "list"
    lines = (f"{checksum(each.encode())}  some/{each}.jar\n" for each in "ab")
    checksums.write_text("".join([*lines, f"{checksum(b'c')}  others/c.jar\n"]), encoding="utf-8")
    return JarSet("some", tmp_path / "ivy.xml", checksums, own)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where all of them are."""
    made = tmp_path / "some"
    made.mkdir()
    for each in "ab":
        (made / f"{each}.jar").write_text(each, encoding="utf-8")
    (made / "sluice.jar").write_bytes(b"ours")
    return made


@pytest.mark.parametrize("jars", [SPARK, S3, BROKER], ids=lambda each: each.name)
def test_the_lists_have_the_form_of_sha256sum_and_are_sorted(jars: JarSet) -> None:
    assert jars.listed
    assert all(len(checksum) == 64 for checksum in jars.listed.values())
    assert list(jars.listed) == sorted(jars.listed)


def test_what_is_there_as_it_is_listed_is_whole(jars: JarSet, folder: Path) -> None:
    assert jars.lacking_in(folder) == []
    assert jars.differences_in(folder) == []
    assert jars.has_own_in(folder)


def test_a_jar_that_is_missing_differs_or_is_not_listed_is_named(
    jars: JarSet, folder: Path
) -> None:
    (folder / "a.jar").unlink()
    (folder / "b.jar").write_bytes(b"X")
    (folder / "d.jar").write_bytes(b"d")
    assert jars.lacking_in(folder) == ["a.jar"]
    assert jars.differences_in(folder) == [
        f"some/a.jar: expected {checksum(b'a')}, found none",
        f"some/b.jar: expected {checksum(b'b')}, found {checksum(b'X')}",
        f"some/d.jar: expected no such file, found {checksum(b'd')}",
    ]


def test_all_jars_are_missing_where_there_is_no_folder(jars: JarSet, tmp_path: Path) -> None:
    assert jars.lacking_in(tmp_path / "none") == ["a.jar", "b.jar"]


def test_our_own_jar_must_be_that_of_this_package(jars: JarSet, folder: Path) -> None:
    (folder / "sluice.jar").write_bytes(b"older")
    assert not jars.has_own_in(folder)
    (folder / "sluice.jar").unlink()
    assert not jars.has_own_in(folder)
