"""The project's own Python sources, as syntax trees."""

from __future__ import annotations

import ast
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


def packages(path: Path) -> set[str]:
    """The top-level packages that a file imports, inside functions too."""
    imported: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            imported |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module))
    return {each.partition(".")[0] for each in imported}
