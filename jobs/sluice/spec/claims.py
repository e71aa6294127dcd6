"""Claims: which file of a folder a pipeline's name, or a table, belongs to. Pure.

Of files that claim the same, one may be entitled to it: a copy must not displace it. Otherwise all
are refused: nobody can tell which was there first, and the wrong one would be run in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sluice.spec.pipeline_spec import PipelineSpec

Specs = Mapping[Path, PipelineSpec]


def refused_claims(specs: Specs) -> dict[Path, str]:
    """The files that lose their claim, each with the reason: key, found, allowed."""
    names = dict(_losing(specs, "pipeline", lambda path, spec: path.stem == spec.pipeline))
    left = {path: spec for path, spec in specs.items() if path not in names}
    tables = _losing(left, "table", lambda _, spec: spec.table == spec.pipeline)
    return names | dict(tables)


def _losing(
    specs: Specs, key: str, entitled: Callable[[Path, PipelineSpec], bool]
) -> Iterator[tuple[Path, str]]:
    claims: dict[str, list[Path]] = {}
    for path, spec in specs.items():
        claims.setdefault(getattr(spec, key), []).append(path)
    for claimed, paths in claims.items():
        holders = [each for each in paths if entitled(each, specs[each])]
        kept = holders if len(holders) == 1 else []
        for path in paths if len(paths) > 1 else ():
            if path not in kept:
                others = [each.name for each in kept or paths if each != path]
                yield path, _told(key, claimed, others, bool(kept))


def _told(key: str, claimed: str, others: list[str], kept: bool) -> str:
    held = "which {} already has" if kept else "as in {}, so that none of them is run"
    return (
        f"{key}: found {claimed!r}, {held.format(', '.join(others))}; allowed: a name that no other"
        " file of the folder uses"
    )
