"""The project's own Python sources, as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
JOBS = ROOT / "jobs"


def sources(*folders: str) -> list[Path]:
    """The Python files of some folders of the project."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert found, f"no sources in {folders}"
    return sorted(found)


def shown(path: Path) -> str:
    """A path below the project's root."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def module(path: Path) -> str:
    """A product file's module name, such as `sluice.lake.session`."""
    return ".".join(path.relative_to(JOBS).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports(path: Path) -> frozenset[str]:
    """What a file imports when it runs, inside functions too; not what only its types need.

    `from a import b` counts as `a` and `a.b`: whether b is a module cannot be told from here.
    """
    return frozenset(_imports(tree(path)))


def _imports(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                for otherwise in child.orelse:
                    yield from _imports(otherwise)
            case ast.Import():
                yield from (each.name for each in child.names)
            case ast.ImportFrom():
                assert child.level == 0, "relative imports hide the direction"
                yield str(child.module)
                yield from (f"{child.module}.{each.name}" for each in child.names)
            case _:
                yield from _imports(child)


def packages(path: Path) -> set[str]:
    """The top-level packages that a file imports."""
    return {each.partition(".")[0] for each in imports(path)}
