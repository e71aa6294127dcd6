"""Fetching with pyspark's own Ivy, from a repository on this disk: all jars, or nothing."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.lake.jars.fetching import fetch
from sluice.lake.jars.jar_folder import JarFolder
from sluice.lake.jars.jar_set import JarSet

pytestmark = pytest.mark.patient

CONTENTS = {"oak-1.0.jar": b"an oak", "ash_2.13-2.1.jar": b"an ash tree"}
IVY = """\
<ivy-module version="2.0">
  <info organisation="test" module="trees"/>
  <configurations><conf name="trees"/></configurations>
  <dependencies>
    <dependency org="wood" name="oak" rev="1.0" conf="trees->default"/>
    <dependency org="wood" name="ash_2.13" rev="2.1" conf="trees->default"/>
  </dependencies>
</ivy-module>
"""
SETTINGS = """\
<ivysettings>
  <settings defaultResolver="disk"/>
  <resolvers>
    <filesystem name="disk">
      <artifact pattern="{place}/[artifact]-[revision].[ext]"/>
    </filesystem>
  </resolvers>
</ivysettings>
"""


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A repository with both jars."""
    made = tmp_path / "mirror"
    made.mkdir()
    for name, content in CONTENTS.items():
        (made / name).write_bytes(content)
    return made


@pytest.fixture
def environment(mirror: Path, tmp_path: Path) -> dict[str, str]:
    settings = tmp_path / "settings.xml"
    settings.write_text(SETTINGS.format(place=mirror), encoding="utf-8")
    return {**os.environ, "IVY_SETTINGS": str(settings)}


@pytest.fixture
def trees(tmp_path: Path) -> JarSet:
    (tmp_path / "ivy.xml").write_text(IVY, encoding="utf-8")
    lines = (
        f"{hashlib.sha256(text).hexdigest()}  trees/{name}\n" for name, text in CONTENTS.items()
    )
    (tmp_path / "list").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "own.jar").write_bytes(b"ours")
    return JarSet("trees", tmp_path / "ivy.xml", tmp_path / "list", tmp_path / "own.jar")


@pytest.fixture
def folder(tmp_path: Path) -> JarFolder:
    return JarFolder(tmp_path / "deep" / "jars")


def there(folder: JarFolder, trees: JarSet) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(folder.of(trees).iterdir())}


WHOLE = {**dict(sorted(CONTENTS.items())), "own.jar": b"ours"}


def test_all_come_with_our_own_and_each_is_shown_with_its_size(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    seen: list[tuple[str, int]] = []
    assert fetch(trees, folder, environment, lambda *each: seen.append(each))
    assert there(folder, trees) == WHOLE
    assert sorted(seen) == sorted((name, len(text)) for name, text in CONTENTS.items())
    assert sorted(each.name for each in folder.path.iterdir()) == [".lock", "trees"]


def test_nothing_is_fetched_where_all_are(
    trees: JarSet, folder: JarFolder, environment: dict[str, str], mirror: Path
) -> None:
    fetch(trees, folder, environment, lambda *_: None)
    for each in mirror.iterdir():
        each.unlink()
    assert not fetch(trees, folder, environment, lambda *_: None)
    # A newer version of ours comes with the package.
    assert trees.own
    trees.own.write_bytes(b"newer")
    assert not fetch(trees, folder, environment, lambda *_: None)
    assert there(folder, trees)["own.jar"] == b"newer"


def test_where_all_are_nothing_is_written(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    """As for a user of an image, whose folder is another's."""
    fetch(trees, folder, environment, lambda *_: None)
    (folder.path / ".lock").unlink()
    assert not fetch(trees, folder, environment, lambda *_: None)
    assert [each.name for each in folder.path.iterdir()] == ["trees"]


def test_a_jar_that_is_taken_away_while_it_is_looked_at_is_no_fault(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    """As by another process, which replaces the folder: listed, and gone."""
    fetch(trees, folder, environment, lambda *_: None)
    (folder.of(trees) / "elm-1.0.jar").symlink_to("gone")
    with pytest.raises(SettingsError, match=r"found: .*No such file"):
        fetch(trees, folder, environment, lambda *_: None)


def test_a_jar_that_was_damaged_is_replaced_and_one_too_many_goes(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    fetch(trees, folder, environment, lambda *_: None)
    (folder.of(trees) / "oak-1.0.jar").write_bytes(b"half of")
    (folder.of(trees) / "oak-0.9.jar").write_bytes(b"older")
    assert fetch(trees, folder, environment, lambda *_: None)
    assert there(folder, trees) == WHOLE


def test_another_checksum_is_refused_and_nothing_of_it_stays(
    trees: JarSet, folder: JarFolder, environment: dict[str, str], mirror: Path
) -> None:
    (mirror / "oak-1.0.jar").write_bytes(b"no oak")
    with pytest.raises(SettingsError, match=r"trees/oak-1\.0\.jar: expected \w+, found \w+"):
        fetch(trees, folder, environment, lambda *_: None)
    assert [each.name for each in folder.path.iterdir()] == [".lock"]


def test_a_jar_that_cannot_be_had_is_named_and_the_old_ones_stay(
    trees: JarSet, folder: JarFolder, environment: dict[str, str], mirror: Path
) -> None:
    fetch(trees, folder, environment, lambda *_: None)
    (folder.of(trees) / "oak-1.0.jar").write_bytes(b"half of")
    (mirror / "oak-1.0.jar").unlink()
    with pytest.raises(SettingsError, match=r"oak;1\.0: not found.* IVY_SETTINGS=FILE") as refused:
        fetch(trees, folder, environment, lambda *_: None)
    assert "\n" not in str(refused.value)
    assert there(folder, trees) == {**WHOLE, "oak-1.0.jar": b"half of"}
    assert sorted(each.name for each in folder.path.iterdir()) == [".lock", "trees"]


def test_what_a_killed_process_left_is_removed(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    (folder.path / ".fetching-abc" / "new").mkdir(parents=True)
    fetch(trees, folder, environment, lambda *_: None)
    assert sorted(each.name for each in folder.path.iterdir()) == [".lock", "trees"]


def test_two_at_the_same_time_fetch_once(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    fetched: list[bool] = []

    def one() -> None:
        fetched.append(fetch(trees, folder, environment, lambda *_: None))

    both = [threading.Thread(target=one) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert sorted(fetched) == [False, True]


def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(
    trees: JarSet, tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"`sluice jars --to DIR` .* SLUICE_JARS"):
        fetch(trees, JarFolder(tmp_path / "file"), environment, lambda *_: None)


def test_without_java_it_is_said(
    trees: JarSet, folder: JarFolder, environment: dict[str, str]
) -> None:
    without = {**environment, "JAVA_HOME": "/nowhere"}
    with pytest.raises(SettingsError, match="Java: expected a JDK, 17 or 21, found no `java`"):
        fetch(trees, folder, without, lambda *_: None)


def test_with_the_client_of_a_server_only_it_is_said(
    trees: JarSet, folder: JarFolder, environment: dict[str, str], tmp_path: Path
) -> None:
    client = {**environment, "SPARK_HOME": str(tmp_path)}
    with pytest.raises(SettingsError, match="pyspark: expected the whole Spark"):
        fetch(trees, folder, client, lambda *_: None)
