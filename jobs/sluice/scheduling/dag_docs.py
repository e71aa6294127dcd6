"""DAG docs: what Airflow shows of a DAG, where each named recipe is a link to the handbook."""

from __future__ import annotations

import re

from sluice.scheduling.links import web_links
from sluice.scheduling.page.links import Links

_RECIPES = "operations"
# `docs/operations.md#look`, docs/metrics.md, or `#look` alone, which is a recipe.
_NAMED = re.compile(
    r"`?docs/(?P<page>[a-z-]+)\.md(?:#(?P<there>[a-z-]+))?`?|`#(?P<recipe>[a-z-]+)`"
)


def linked_docs(text: str | None) -> str:
    """The text for a DAG of this Airflow."""
    return with_links(text or "", web_links())


def with_links(text: str, links: Links) -> str:
    """The same text in Markdown, with links to what it names of docs/."""

    def linked(found: re.Match[str]) -> str:
        page, anchor = found["page"] or _RECIPES, found["there"] or found["recipe"] or ""
        words = anchor.replace("-", " ") or f"docs/{page}.md"
        return f"[{words}]({links.handbook(page, anchor)})"

    return _NAMED.sub(linked, text)
