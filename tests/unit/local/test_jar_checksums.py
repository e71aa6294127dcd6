"""Jars that are not those of jars.sha256 are refused by name, before anything of them runs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from local.jar_checksums import LIST, differences, read_list

REPOSITORY = Path(__file__).parents[3]
GOOD, BAD = hashlib.sha256(b"good").hexdigest(), hashlib.sha256(b"bad").hexdigest()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with one listed jar in each of two folders, and our own jar."""
    for name in ("spark", "s3"):
        folder = tmp_path / "build" / "jars" / name
        folder.mkdir(parents=True)
        (folder / f"{name}-1.jar").write_bytes(b"good")
    (tmp_path / "build" / "jars" / "spark" / "sluice.jar").write_bytes(b"built here")
    (tmp_path / LIST).write_text(f"{GOOD}  s3/s3-1.jar\n{GOOD}  spark/spark-1.jar\n")
    return tmp_path


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = REPOSITORY / "local" / "jar_checksums.py"
    return subprocess.run(
        [sys.executable, script, *arguments], cwd=checkout, capture_output=True, text=True
    )


def test_the_listed_jars_pass_and_ours_needs_no_line(checkout: Path) -> None:
    done = run(checkout)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_changed_jar_is_named_with_both_checksums_and_the_way_on(checkout: Path) -> None:
    (checkout / "build/jars/s3/s3-1.jar").write_bytes(b"bad")
    done = run(checkout)
    assert done.returncode == 1
    assert f"s3/s3-1.jar: expected {GOOD}, found {BAD}\n" in done.stderr
    assert "delete build/ivy and build/jars" in done.stderr
    assert "spark-1.jar" not in done.stderr


def test_a_jar_that_is_not_listed_is_refused(checkout: Path) -> None:
    (checkout / "build/jars/spark/added-1.jar").write_bytes(b"bad")
    done = run(checkout)
    assert done.returncode == 1
    assert f"spark/added-1.jar: expected no such file (not in jars.sha256), found {BAD}" in (
        done.stderr
    )


def test_a_listed_jar_that_is_missing_is_refused() -> None:
    listed = {"spark/a.jar": GOOD, "spark/b.jar": GOOD}
    assert differences(listed, {"spark/a.jar": GOOD}) == [
        f"spark/b.jar: expected {GOOD}, found no such file"
    ]


def test_a_folder_that_was_not_fetched_is_passed_over() -> None:
    assert differences({"spark/a.jar": GOOD, "s3/b.jar": GOOD}, {"spark/a.jar": GOOD}) == []


def test_renewed_the_list_is_what_is_there(checkout: Path) -> None:
    (checkout / "build/jars/s3/s3-1.jar").write_bytes(b"bad")
    assert run(checkout, "renew").returncode == 0
    assert read_list((checkout / LIST).read_text()) == {
        "s3/s3-1.jar": BAD,
        "spark/spark-1.jar": GOOD,
    }
    assert run(checkout).returncode == 0


def test_a_line_of_another_form_is_named() -> None:
    with pytest.raises(ValueError, match=r"jars\.sha256:2: expected `<sha256>  <path>`, found 'x'"):
        read_list(f"{GOOD}  spark/a.jar\nx\n")


def test_sha256sum_reads_the_list_of_this_repository() -> None:
    """Also: what is in build/jars of this checkout is what is listed."""
    done = subprocess.run(
        ["sha256sum", "--check", "--quiet", REPOSITORY / LIST],
        cwd=REPOSITORY / "build" / "jars",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
