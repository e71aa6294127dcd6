"""Outcomes: what `check` says of a candidate, its next moves followed as far as files go."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from sluice.columns.columns import parse_columns
from sluice.columns.declared import Declared, Place
from sluice.errors import SpecError
from sluice.spec_folder import load_spec

from tests.public_schemas.candidates import Candidate
from tests.public_schemas.moves import Files
from tests.worlds.held_places import is_held

_MOST_FILES = 500
_MOST_PARTS = 20_000
_TEXT = parse_columns("value STRING")


@dataclass(frozen=True)
class Outcome:
    """A candidate as a pipeline's schema: its columns, or why it is refused."""

    candidate: Candidate
    declared: Declared | None = None
    refusal: str = ""
    followed: int = 0
    """How many files had to be named in `schema_files`, as the refusals said."""
    lost: Place | None = None
    """A field that has no column, is in no text, and of which `check` does not tell."""


def outcome_of(candidate: Candidate, package: Path, files: Files) -> Outcome:
    """The outcome, after what the refusals say to do. Whatever else is raised is a crash."""
    form = dict(candidate.format)
    spec_file = package / "candidate.yaml"
    try:
        for followed in range(_MOST_FILES):
            spec_file.write_text(yaml.safe_dump(_spec(form)), encoding="utf-8")
            try:
                declared = load_spec(spec_file).format.declared
            except SpecError as refused:
                refusal = str(refused).removeprefix(f"{spec_file}: ")
                wanted = files.wanted(refusal)
                if wanted is None or wanted in form.get("schema_files", []):
                    return Outcome(candidate, refusal=refusal, followed=followed)
                form["schema_files"] = [*form.get("schema_files", []), wanted]
            else:
                lost = _lost(package / candidate.place, declared) if _is_json(form) else None
                return Outcome(candidate, declared, followed=followed, lost=lost)
    finally:
        spec_file.unlink()
    return Outcome(candidate, refusal=refusal, followed=_MOST_FILES)


def _spec(form: Mapping[str, Any]) -> Mapping[str, Any]:
    names = {"version": 1, "pipeline": "candidate", "table": "candidate"}
    return {**names, "kafka": "kafka_default", "topics": ["candidate"], "format": form}


def _is_json(form: Mapping[str, Any]) -> bool:
    return bool(form["type"] == "json")


def _lost(file: Path, declared: Declared) -> Place | None:
    if declared.columns == _TEXT:
        return None
    schema = json.loads(file.read_text(encoding="utf-8"))
    told = {note.place for note in declared.unread}
    for place in _Walk(schema).places(schema, (), ()):
        above = {place[:depth] for depth in range(1, len(place) + 1)}
        if not is_held(declared.columns, place) and not above & told:
            return place
    return None


class _Walk:
    """A plain walk through a schema of one file, which ends after so many parts."""

    def __init__(self, whole: Any) -> None:
        self._whole, self._left = whole, _MOST_PARTS

    def places(self, part: Any, above: Place, through: tuple[str, ...]) -> Iterator[Place]:
        """The places of the fields below a part, the references that led to it left out."""
        self._left -= 1
        if not isinstance(part, dict) or self._left < 0:
            return
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#") and reference not in through:
            yield from self.places(_part(self._whole, reference), above, (*through, reference))
        for name, each in _mapping(part.get("properties")).items():
            if each is False:
                # No value has it.
                continue
            yield (*above, name)
            yield from self.places(each, (*above, name), through)
        for key in ("oneOf", "anyOf", "allOf"):
            for each in part[key] if isinstance(part.get(key), list) else ():
                yield from self.places(each, above, through)
        for key in ("then", "else"):
            yield from self.places(part.get(key), above, through)
        yield from self.places(part.get("items"), (*above, None), through)


def _part(whole: Any, reference: str) -> Any:
    found = whole
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = _mapping(found).get(name)
    return found


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}
