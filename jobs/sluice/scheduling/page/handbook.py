"""The handbook: the pages of docs/, as HTML, so that links in Airflow lead to a recipe.

An installed wheel has them among its files, a checkout in its own folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_PAGE = re.compile(r"(?P<name>[a-z][a-z0-9-]*)\.md(?P<anchor>#[\w-]+)?")
_ELSEWHERE = ("https://", "http://")
_FIRST = "operations.md"
_CHECKOUT = Path(__file__).resolve().parents[4] / "docs"


class Handbook:
    """The pages of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=64)(self._rendered)

    def page(self, name: str) -> str | None:
        """A page as HTML, None where there is none of that name."""
        if not _NAME.fullmatch(name) or not (self._folder / f"{name}.md").is_file():
            return None
        return self._read(name)

    def _rendered(self, name: str) -> str:
        text = (self._folder / f"{name}.md").read_text(encoding="utf-8")
        # Raw HTML stays text.
        markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = markdown.parse(text)
        _name_headings(tokens)
        for token in tokens:
            # The policy allows no style but the page's own.
            token.attrs.pop("style", None)
            if token.children is not None:
                token.children = list(self._linked(token.children))
        return str(markdown.renderer.render(tokens, markdown.options, {}))

    def _linked(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """The parts of a line: links to other pages lead to them here, all others are text."""
        kept: list[bool] = []
        for token in tokens:
            if token.type == "image":
                yield Token("text", "", 0, content=token.content)
            elif token.type == "link_open":
                address = self._address(str(token.attrs.get("href", "")))
                kept.append(bool(address))
                token.attrs["href"] = address
                if address:
                    yield token
            elif token.type != "link_close" or kept.pop():
                yield token

    def _address(self, address: str) -> str:
        """Where a link of a page leads to in here; empty where it leads to no page."""
        if address.startswith(("#", *_ELSEWHERE)):
            return address
        found = _PAGE.fullmatch(address)
        if found is None or not (self._folder / f"{found['name']}.md").is_file():
            return ""
        return f"{found['name']}{found['anchor'] or ''}"


def find_handbook() -> Handbook:
    """That of this checkout, else of this installation."""
    if (_CHECKOUT / _FIRST).is_file():
        return Handbook(_CHECKOUT)
    try:
        listed = files("sluice") or ()
    except PackageNotFoundError:
        listed = ()
    installed = [each for each in listed if each.match(f"share/sluice/docs/{_FIRST}")]
    return Handbook(Path(str(installed[0].locate())).parent if installed else _CHECKOUT)


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give each heading the id that links to it have; of equal ones, as GitHub does."""
    seen: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            written = "".join(each.content for each in inline.children or ())
            anchor = re.sub(r"[^\w -]", "", written.lower()).replace(" ", "-")
            seen[anchor] = seen.get(anchor, -1) + 1
            opening.attrs["id"] = f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
