"""`make audit`: compare everything that is locked with the vulnerabilities that are known.

    python -m local.audit [--json] [--online]

It reads local/audit/advisories.yaml, and asks OSV where that is reached; with --online it fails
where it is not. It ends with 1 if a part is affected and not excepted, 2 if the file is not valid.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from pydantic import ValidationError

from local.audit import osv
from local.audit.advisories import KEPT, Kept, read_kept
from local.audit.findings import Finding, age, excepted, findings, unused
from local.audit.locked import Part, everything
from local.audit.versions import UnknownRange


@dataclass(frozen=True)
class Report:
    """What was compared, what was found, and why OSV was not asked; None if it was."""

    parts: Sequence[Part]
    found: Sequence[Finding]
    warnings: Sequence[str]
    without_osv: str | None

    def failures(self, today: date) -> list[Finding]:
        """The findings that no exception covers today."""
        return [each for each in self.found if each.counts(today)]


def main(arguments: Sequence[str]) -> int:
    """Compare, and print the report. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="make audit")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--online", action="store_true")
    asked, today = parser.parse_args(arguments), datetime.now(UTC).date()
    try:
        kept = read_kept(KEPT.read_text(encoding="utf-8"))
        report = compared(everything(), kept, today)
    except (ValidationError, UnknownRange) as problem:
        print(f"{KEPT}: {problem}", file=sys.stderr)
        return 2
    print(as_json(report, today) if asked.json else as_text(report, kept, today))
    return int(bool(report.failures(today)) or (asked.online and report.without_osv is not None))


def compared(parts: Sequence[Part], kept: Kept, today: date, address: str = osv.ADDRESS) -> Report:
    """The parts, compared with the kept list and with OSV."""
    found = findings(parts, kept)
    warnings = [
        f"no longer needed: {each.ids[0]} of {each.packages[0]} {each.version}"
        for each in unused(found, kept)
    ]
    if old := age(kept, today):
        warnings.append(old)
    known = {(each.part, name) for each in found for name in each.advisory.ids}
    try:
        more = osv.ask(parts, address)
    except (OSError, ValueError) as problem:
        return Report(parts, found, warnings, f"{type(problem).__name__}: {problem}")
    new = [each for each in more if (each.part, each.advisory.ids[0]) not in known]
    found += [replace(each, accepted=excepted(each.part, each.advisory, kept)) for each in new]
    return Report(parts, found, warnings, None)


def as_text(report: Report, kept: Kept, today: date) -> str:
    """A line for each finding, failures first, and what was not compared."""
    failed = report.failures(today)
    lines = [_line(each, today) for each in (*failed, *_accepted(report, today))]
    lines += [f"warning: {each}" for each in report.warnings]
    lines.append(
        f"{len(report.parts)} parts, {len(kept.advisories)} advisories looked at on"
        f" {kept.looked_at}: {len(failed)} affected, {len(_accepted(report, today))} accepted"
    )
    if report.without_osv is None:
        silent = sum(not osv.can_be_asked(each) for each in report.parts)
        lines.append(f"OSV was asked; not about {silent} jars whose group is not known")
    else:
        lines.append(
            f"OSV was not reached ({report.without_osv}): only what advisories.yaml lists was"
            " compared, and more may be known."
        )
    return "\n".join(lines)


def as_json(report: Report, today: date) -> str:
    """The same, for programs."""
    return json.dumps(
        {
            "parts": len(report.parts),
            "osv": report.without_osv is None,
            "warnings": list(report.warnings),
            "findings": [
                {
                    "place": each.part.place,
                    "name": each.part.name,
                    "version": each.part.version,
                    "ids": each.advisory.ids,
                    "source": each.advisory.source,
                    "fails": each.counts(today),
                    "reason": each.accepted.reason if each.accepted else None,
                }
                for each in report.found
            ],
        },
        indent=2,
    )


def _accepted(report: Report, today: date) -> list[Finding]:
    return [each for each in report.found if not each.counts(today)]


def _line(found: Finding, today: date) -> str:
    what = f"{found.part} {', '.join(found.advisory.ids)}: {found.advisory.summary}"
    if found.accepted is None:
        return f"AFFECTED {what} ({found.advisory.source})"
    word = "EXPIRED" if found.counts(today) else "accepted"
    return f"{word} until {found.accepted.until} {what}: {found.accepted.reason}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
