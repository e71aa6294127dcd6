"""Riddles in prose: the patterns of docs/style.md, and the texts that they are sought in."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import click

from tests.unit.sources import ROOT

PAGE = ROOT / "docs" / "style.md"
_CODE = re.compile(
    r"^```.*?^```|``[^\n]+?``|`[^`\n]*`|(?<=\])\([^)\s]*\)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Riddle:
    """A row of the table: an example, what to write instead, the pattern that finds it."""

    example: str
    instead: str
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class Text:
    """A piece of prose, and where it begins."""

    place: str
    line: int
    words: str

    def found(self) -> Iterator[str]:
        for riddle in riddles():
            for hit in riddle.pattern.finditer(self.words):
                line = self.line + self.words.count("\n", 0, hit.end())
                words = " ".join(hit[0].split())
                yield f"{self.place}:{line}: {words!r}: write {riddle.instead!r}"


@cache
def riddles() -> tuple[Riddle, ...]:
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \| `(.+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return tuple(Riddle(example, instead, _compiled(pattern)) for example, instead, pattern in rows)


def _compiled(cell: str) -> re.Pattern[str]:
    """A pattern as a cell of the table has it; a space in it is a line break as well."""
    written = cell.replace(r"\\|", "\0").replace(r"\|", "|").replace("\0", r"\|")
    # Not in a lookbehind, whose width is fixed.
    spaced = re.sub(r"(\(\?<![^)]*\))| ", lambda it: it[1] or r"\s++", written)
    return re.compile(spaced, re.MULTILINE)


def of_markdown(place: str, page: str) -> Text:
    """A page without its code; the lines stay where they are."""
    return Text(place, 1, _without_code(page))


def of_python(place: str, source: str) -> Iterator[Text]:
    """The docstrings, the texts of several words, and the blocks of comments."""
    nodes = [*ast.walk(ast.parse(source))]
    inside = {id(part) for node in nodes for part in _parts(node)}
    for node in nodes:
        if id(node) not in inside and (words := _words(node)):
            yield Text(place, getattr(node, "lineno", 0), _without_code(words))
    for line, words in _comments(source):
        yield Text(place, line, _without_code(words))


def _without_code(words: str) -> str:
    return _CODE.sub(lambda code: "`" + "\n" * code[0].count("\n"), words)


def _parts(node: ast.AST) -> list[ast.expr]:
    return node.values if isinstance(node, ast.JoinedStr) else []


def _words(node: ast.AST) -> str:
    match node:
        case ast.Constant(str(text)) if " " in text:
            return text
        case ast.JoinedStr(values=parts):
            texts = (part.value if isinstance(part, ast.Constant) else "…" for part in parts)
            return "".join(map(str, texts))
    return ""


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """The comments, those on neighbouring lines together, each with its first line."""
    first, block = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != first + block.count("\n"):
            yield first, block
            first, block = token.start[0], ""
        block += token.string.lstrip("#: ") + "\n"
    yield first, block


def of_command(words: str, command: click.Command) -> Iterator[Text]:
    """What `--help` says of a command and its options."""
    options = (each.help for each in command.params if isinstance(each, click.Option))
    for text in (command.help, command.short_help, *options):
        yield Text(f"sluice {words} --help", 1, text or "")
