"""OSV, the open database of vulnerabilities: asked about the locked parts, where it is reached."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.request import Request, urlopen

from local.audit.advisories import Advisory
from local.audit.findings import Finding
from local.audit.locked import Part

ADDRESS = "https://api.osv.dev/v1/querybatch"
_TIMEOUT_S = 20
# The most questions in one request (OSV's documentation).
_AT_ONCE = 1000
_ECOSYSTEMS = {"pypi": "PyPI", "maven": "Maven"}


def can_be_asked(part: Part) -> bool:
    """Whether its full name is known: a jar's group is."""
    return part.ecosystem == "pypi" or part.group is not None


def ask(parts: Sequence[Part], address: str = ADDRESS) -> list[Finding]:
    """What it knows of the parts that can be asked about.

    Raises OSError if it is not reached, ValueError for an answer in another form.
    """
    asked = [each for each in parts if can_be_asked(each)]
    found = []
    for first in range(0, len(asked), _AT_ONCE):
        some = asked[first : first + _AT_ONCE]
        answers = _answers(some, address)
        if len(answers) != len(some):
            raise ValueError(f"{address}: expected {len(some)} results, found {len(answers)}")
        for part, answer in zip(some, answers, strict=True):
            found += [Finding(part, _advisory(part, each["id"]), None) for each in answer]
    return found


def _answers(parts: Sequence[Part], address: str) -> list[list[dict[str, Any]]]:
    queries = [{"package": _package(each), "version": each.version} for each in parts]
    body = json.dumps({"queries": queries}).encode()
    request = Request(address, body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=_TIMEOUT_S) as answer:
        results = json.load(answer)["results"]
    return [each.get("vulns", []) for each in results]


def _package(part: Part) -> dict[str, str]:
    name = part.name if part.group is None else f"{part.group}:{part.name}"
    return {"name": name, "ecosystem": _ECOSYSTEMS[part.ecosystem]}


def _advisory(part: Part, known_as: str) -> Advisory:
    return Advisory(
        ids=[known_as],
        ecosystem=part.ecosystem,
        packages=[_package(part)["name"]],
        affected=[f">={part.version}"],
        summary="known to OSV, and not yet in advisories.yaml",
        source=f"https://osv.dev/vulnerability/{known_as}",
    )
