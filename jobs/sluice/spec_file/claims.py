"""Claims: which file of a folder a pipeline's name belongs to, and which name one table. Pure.

If several files claim one pipeline, the file named after the pipeline keeps it: a copy must not
displace it. Without such a file all are refused: which one is older is unknown, and the wrong one
would run silently.

Files that name one table are reported, not refused. Only the table knows which of them was first:
it names the pipeline that it was created for, and every step refuses the other one. Refusing both
would let a new file stop a working pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sluice.spec_file.pipeline_spec import PipelineSpec

Specs = Mapping[Path, PipelineSpec]
_ALLOWED = "allowed: a name that no other file of the folder uses"


def refused_claims(specs: Specs) -> dict[Path, str]:
    """The files that lose their claim to a pipeline, each with the reason: key, found, allowed."""
    found = {}
    for name, paths in _shared({path: spec.pipeline for path, spec in specs.items()}):
        holders = [each for each in paths if each.stem == name]
        kept = holders if len(holders) == 1 else []
        for path in (each for each in paths if each not in kept):
            others = _names_of(each for each in kept or paths if each != path)
            held = f"which {others} already has" if kept else f"as in {others}, so that none is run"
            found[path] = f"pipeline: found {name!r}, {held}; {_ALLOWED}"
    return found


def shared_tables(specs: Specs) -> dict[Path, str]:
    """The files whose table another file names, too: key, found, allowed."""
    found = {}
    for table, paths in _shared({path: spec.table for path, spec in specs.items()}):
        for path in paths:
            others = _names_of(each for each in paths if each != path)
            found[path] = (
                f"table: found {table!r}, which {others} names as well; allowed: a table that no"
                " other file of the folder names. The table stays with the pipeline that it was"
                " created for, which runs on, and `plan` refuses the other: correct that one"
            )
    return found


def _shared(names: Mapping[Path, str]) -> Iterator[tuple[str, list[Path]]]:
    """The names of several files."""
    claims: dict[str, list[Path]] = {}
    for path, name in names.items():
        claims.setdefault(name, []).append(path)
    return (each for each in claims.items() if len(each[1]) > 1)


def _names_of(paths: Iterable[Path]) -> str:
    return ", ".join(each.name for each in paths)
