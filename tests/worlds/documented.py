"""The queries of the pages in docs/, as they stand there, for the tests that ask them."""

from __future__ import annotations

import re
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs"
_FENCE = re.compile(r"^```sql ([a-z ]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """The text of a page: `page("tables.md")`."""
    return (_DOCS / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """What stands below a heading of a page, up to the next one of its rank or above."""
    rank = heading.partition(" ")[0]
    _, found, below = page(name).partition(f"\n{heading}\n")
    assert found, f"{name}: expected the heading {heading!r}, found none"
    return re.split(rf"^#{{1,{len(rank)}}} ", below, maxsplit=1, flags=re.MULTILINE)[0]


def questions(text: str) -> list[dict[str, str]]:
    """Engine → query; queries for different engines that follow each other are one question."""
    found: list[dict[str, str]] = []
    for names, query in _FENCE.findall(text):
        asked = dict.fromkeys(names.split(), query)
        if found and not found[-1].keys() & asked.keys():
            found[-1] |= asked
        else:
            found.append(asked)
    return found
