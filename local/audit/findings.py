"""Findings: which locked parts have a known vulnerability, and whether it is accepted. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from local.audit.advisories import Advisory, Exempt, Kept
from local.audit.locked import Part, plain
from local.audit.versions import is_in

# After that long the list is stale: a warning.
STALE = timedelta(days=30)


@dataclass(frozen=True)
class Finding:
    """A part that is affected; `accepted` is the exception for it, expired or not."""

    part: Part
    advisory: Advisory
    accepted: Exempt | None

    def counts(self, today: date) -> bool:
        """Whether the audit fails for it."""
        return self.accepted is None or self.accepted.until < today


def findings(parts: Iterable[Part], kept: Kept) -> list[Finding]:
    """Every part in an affected version. Raises UnknownRange."""
    return [
        Finding(part, advisory, excepted(part, advisory, kept))
        for part in parts
        for advisory in kept.advisories
        if _is_of(part, advisory.ecosystem, advisory.packages)
        and any(is_in(part.version, each, advisory.ecosystem) for each in advisory.affected)
    ]


def unused(found: Iterable[Finding], kept: Kept) -> list[Exempt]:
    """The exceptions that nothing needs any more."""
    needed = [each.accepted for each in found]
    return [each for each in kept.exceptions if each not in needed]


def age(kept: Kept, today: date) -> str | None:
    """A warning if the list was not compared with its sources for long."""
    days = (today - kept.looked_at).days
    if days <= STALE.days:
        return None
    return (
        f"advisories.yaml was last looked at on {kept.looked_at}, {days} days ago: look at its"
        " sources again, and write the day under looked_at"
    )


def excepted(part: Part, advisory: Advisory, kept: Kept) -> Exempt | None:
    """The exception for a part in this version, expired or not."""
    for each in kept.exceptions:
        same = set(each.ids) & set(advisory.ids) and each.version == part.version
        if same and _is_of(part, advisory.ecosystem, each.packages):
            return each
    return None


def _is_of(part: Part, ecosystem: str, names: Iterable[str]) -> bool:
    """A jar's name says only its artifact, so a group is not compared."""
    if part.ecosystem != ecosystem:
        return False
    if ecosystem == "pypi":
        return part.name in map(plain, names)
    return part.name in {each.rpartition(":")[2] for each in names}
