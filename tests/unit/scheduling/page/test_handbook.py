"""The handbook: docs/ as HTML in Airflow, with links that lead somewhere, and nothing that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sluice.scheduling.page.handbook import Handbook, find_handbook

from tests.unit.sources import ROOT

PAGES = sorted(each.stem for each in (ROOT / "docs").glob("*.md"))


@pytest.fixture
def book(tmp_path: Path) -> Handbook:
    (tmp_path / "other.md").write_text("# Other\n", encoding="utf-8")
    (tmp_path / "one.md").write_text(
        "# One\n\n## What `a_b` is, twice\n\n## What `a_b` is, twice\n\n<script>x</script>\n\n"
        "[there](other.md#part) [gone](gone.md) [up](../tests/x.py) [here](#one)"
        " [out](https://example.org/) [bad](javascript:alert) ![picture](a.png)\n\n"
        "| a | b |\n|---|---:|\n| 1 | 2 |\n",
        encoding="utf-8",
    )
    (tmp_path.parent / "secret.md").write_text("# Secret\n", encoding="utf-8")
    return Handbook(tmp_path)


def test_headings_have_the_ids_that_links_to_them_have(book: Handbook) -> None:
    page = book.page("one") or ""
    assert re.findall(r'<h\d id="([^"]+)"', page) == [
        "one",
        "what-a_b-is-twice",
        "what-a_b-is-twice-1",
    ]


def test_links_lead_to_pages_that_are_there_and_others_are_text(book: Handbook) -> None:
    page = book.page("one") or ""
    assert re.findall(r'href="([^"]*)"', page) == ["other#part", "#one", "https://example.org/"]
    assert "gone up" in page
    assert "picture" in page
    assert "<img" not in page


def test_nothing_of_a_page_runs_or_has_a_style_of_its_own(book: Handbook) -> None:
    page = book.page("one") or ""
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "javascript:" not in re.sub(r">[^<]*<", "", page)
    assert "style=" not in page
    assert "<td>2</td>" in page


@pytest.mark.parametrize("name", ["gone", "../secret", "..%2Fsecret", "", "one.md", "One"])
def test_only_pages_of_the_folder_are_found(book: Handbook, name: str) -> None:
    assert book.page(name) is None


@pytest.mark.parametrize("name", PAGES)
def test_every_page_of_the_project_is_in_it_with_all_its_anchors(name: str) -> None:
    book = find_handbook()
    page = book.page(name)
    assert page
    for target in set(re.findall(r'href="([a-z0-9-]*#[^"]+)"', page)):
        other, _, anchor = target.partition("#")
        there = book.page(other) if other else page
        assert there, target
        assert f'id="{anchor}"' in there, target
