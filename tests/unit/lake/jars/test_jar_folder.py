"""The folder of jars: where it is, and the one line that is said where they are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import S3, SPARK, JarSet


def with_all(folder: Path, jars: JarSet) -> JarFolder:
    place = folder / jars.name
    place.mkdir(parents=True)
    for name in jars.listed:
        (place / name).touch()
    if jars.own is not None and jars.own.is_file():
        (place / jars.own.name).write_bytes(jars.own.read_bytes())
    return JarFolder(folder)


def test_the_setting_names_the_folder() -> None:
    assert JarFolder.in_environment({"SLUICE_JARS": "/data/jars"}).path == Path("/data/jars")


@pytest.mark.parametrize("environment", [{}, {"SLUICE_JARS": ""}])
def test_by_default_it_belongs_to_the_python_environment(environment: dict[str, str]) -> None:
    found = JarFolder.in_environment(environment)
    assert found.path == Path(sys.prefix, "share", "sluice", "jars")
    assert found.class_archive == found.path / "classes.jsa"


def test_a_whole_set_is_taken(tmp_path: Path) -> None:
    jars = with_all(tmp_path, SPARK)
    assert jars.has(SPARK)
    jars.require(SPARK)


@pytest.mark.parametrize(("jars", "command"), [(SPARK, "sluice jars"), (S3, "sluice jars --s3")])
def test_missing_jars_are_one_line_with_the_command(
    jars: JarSet, command: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="found no such folder") as refused:
        JarFolder(tmp_path).require(jars)
    assert "\n" not in str(refused.value)
    assert f"`{command}`" in str(refused.value)
    assert [*map(str, refused.value.moves)] == [command]


def test_how_many_are_there_is_said(tmp_path: Path) -> None:
    jars = with_all(tmp_path, SPARK)
    (jars.of(SPARK) / next(iter(SPARK.listed))).unlink()
    count = len(SPARK.listed)
    with pytest.raises(SettingsError, match=f"the {count} jars .* found {count - 1} of them"):
        jars.require(SPARK)


def test_the_jar_of_another_version_of_ours_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own" / "sluice.jar"
    own.parent.mkdir()
    own.write_bytes(b"this version")
    these = JarSet("spark", SPARK.ivy, SPARK.checksums, own)
    jars = with_all(tmp_path / "jars", these)
    own.write_bytes(b"the next one")
    with pytest.raises(SettingsError, match=r"found the sluice\.jar of another Sluice"):
        jars.require(these)


def test_the_jars_for_s3_come_before_the_others() -> None:
    jars = JarFolder(Path("/jars"))
    assert jars.class_path(on_s3=True) == "/jars/s3/*:/jars/spark/*"
    assert jars.class_path(on_s3=False) == "/jars/spark/*"


def test_other_jars_beside_them_are_named(tmp_path: Path) -> None:
    jars = with_all(tmp_path, SPARK)
    (jars.of(SPARK) / "delta-storage-1.0.0.jar").touch()
    assert not jars.has(SPARK)
    with pytest.raises(SettingsError, match=r"found also delta-storage-1\.0\.0\.jar"):
        jars.require(SPARK)
