"""The file of found topics: it is replaced as a whole, and read as it was written or refused."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from sluice.errors import SettingsError, SpecError
from sluice.found_topics import FoundTopics, read_found, write_found, writing_found

FOUND = FoundTopics(version=1, pipelines=["orders.eu", "orders.us"], left_out=["orders-eu"])


@pytest.fixture
def template(tmp_path: Path) -> Path:
    return tmp_path / "orders.yaml"


def test_before_the_first_look_nothing_is_found(template: Path) -> None:
    assert read_found(template) == FoundTopics(version=1, pipelines=[], left_out=[])


def test_what_was_written_is_read_and_a_person_can_review_it(template: Path) -> None:
    with writing_found(template):
        write_found(template, FOUND)
    assert read_found(template) == FOUND
    file = template.with_name("orders.yaml.topics.json")
    assert file.read_text(encoding="utf-8").splitlines()[2:5] == [
        '  "pipelines": [',
        '    "orders.eu",',
        '    "orders.us"',
    ]
    assert {each.name for each in template.parent.iterdir()} == {file.name, ".topics.lock"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file: Invalid JSON"),
        ('{"version": 1, "pipelines": ["a"', "the file: Invalid JSON"),
        ('{"version": 2, "pipelines": [], "left_out": []}', "version: Input should be 1"),
        ('{"version": 1, "pipelines": ["a/b"], "left_out": []}', "pipelines.0: String should"),
        ('{"pipelines": [], "left_out": []}', "version: Field required"),
        ('{"version": 1, "pipelines": [], "left_out": [], "x": 1}', "x: Extra inputs"),
    ],
)
def test_a_file_that_sluice_did_not_write_is_refused_with_the_way_back(
    text: str, told: str, template: Path
) -> None:
    file = template.with_name("orders.yaml.topics.json")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        read_found(template)
    assert str(refused.value).startswith(f"{file}: {told}")
    assert [str(each) for each in refused.value.moves] == ["sluice topics --execute"]


def test_where_the_file_cannot_be_written_the_next_move_is_named(template: Path) -> None:
    gone = template.parent / "gone" / "orders.yaml"
    for write in (lambda: write_found(gone, FOUND), lambda: writing_found(gone).__enter__()):
        with pytest.raises(SettingsError, match="a folder that can be written, found: No"):
            write()


def test_a_draft_that_a_killed_process_left_is_no_obstacle(template: Path) -> None:
    template.with_name(".orders.yaml.topics.json.draft").write_text("{", encoding="utf-8")
    write_found(template, FOUND)
    assert read_found(template) == FOUND


def test_only_one_process_writes_at_a_time(template: Path) -> None:
    with writing_found(template):
        lock = os.open(template.parent / ".topics.lock", os.O_RDWR)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(lock)
