"""The bill of materials: every Python package of the lock and every jar, with its licence.

    build/sbom/bin/python -m local.sbom        (`make sbom`)

It writes build/sbom.json (CycloneDX, checked against its schema) and docs/licences.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from xml.etree import ElementTree

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from local.jar_checksums import CACHE, SETS

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
INSTALLED = ROOT / ".venv" / "lib" / "python3.11" / "site-packages"
BOM, PAGE = ROOT / "build" / "sbom.json", ROOT / "docs" / "licences.md"
# By pip's own name for it: case, dots and underscores do not matter.
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*])?==(\S+)", re.MULTILINE)
_UNKNOWN = "not stated"
# Its wheel says nothing; the repository that its page names does, for all of its parts.
_STATED_THERE = {"openlineage-sql": "Apache-2.0"}


@dataclass(frozen=True, order=True)
class Part:
    """A package or a jar. `checksums` are SHA-256, of which a package may have several files."""

    name: str
    version: str
    licence: str
    purl: PackageURL
    checksums: tuple[str, ...]


def packages() -> Iterator[Part]:
    """The packages of the lock."""
    there = {_plain(each.metadata["Name"]): each for each in distributions(path=[str(INSTALLED)])}
    text = LOCK.read_text(encoding="utf-8")
    starts = [*_PINNED.finditer(text)]
    ends = [each.start() for each in starts[1:]] + [len(text)]
    for found, end in zip(starts, ends, strict=True):
        name, version = _plain(found[1]), found[2]
        hashes = tuple(re.findall(r"--hash=sha256:(\w+)", text[found.start() : end]))
        purl = PackageURL("pypi", None, name, version)
        yield Part(name, version, _licence(there.get(name)), purl, hashes)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(package: Distribution | None) -> str:
    """As the package states it: an expression, its classifiers, or its short text."""
    if package is None:
        return _UNKNOWN
    if expression := package.metadata["License-Expression"]:
        return str(expression)
    classified = [
        text.rpartition(" :: ")[2]
        for text in package.metadata.get_all("Classifier") or []
        if text.startswith("License :: OSI Approved :: ")
    ]
    stated = (package.metadata["License"] or "").strip()
    short = stated if stated and "\n" not in stated and len(stated) < 60 else ""
    there = _STATED_THERE.get(_plain(package.metadata["Name"]), _UNKNOWN)
    return ", ".join(classified) or short or there


def jars() -> Iterator[Part]:
    """The jars, by their places in Ivy's cache: ORGANISATION/MODULE/jars/MODULE-REVISION.jar."""
    cached = {each.name: each for each in CACHE.glob("*/*/*/*.jar")}
    unique = {name: sum for each in SETS for name, sum in each.listed.items()}
    for name, checksum in unique.items():
        place = cached[name].parent.parent
        version = name.removeprefix(f"{place.name}-").removesuffix(".jar")
        module = place / f"ivy-{version}.xml"
        purl = PackageURL("maven", place.parent.name, place.name, version)
        full = f"{place.parent.name}:{place.name}"
        yield Part(full, version, _licence_of(module), purl, (checksum,))


def _licence_of(module: Path) -> str:
    stated = [each.get("name", "") for each in ElementTree.parse(module).iter("license")]
    return " OR ".join(" ".join(each.split()) for each in stated if each) or _UNKNOWN


def bill(parts: Iterable[Part]) -> str:
    """The document, as JSON."""
    licences = LicenseFactory()
    bom = Bom()
    bom.metadata.component = Component(name="sluice", type=ComponentType.APPLICATION)
    for part in parts:
        known = [] if part.licence == _UNKNOWN else [licences.make_from_string(part.licence)]
        # One of several files is installed: the lock has the hashes of all.
        hashes = [HashType(alg=HashAlgorithm.SHA_256, content=each) for each in part.checksums]
        component = Component(
            name=part.purl.name,
            group=part.purl.namespace,
            version=part.version,
            type=ComponentType.LIBRARY,
            purl=part.purl,
            bom_ref=str(part.purl),
            licenses=known,
            hashes=hashes,
        )
        bom.components.add(component)
        bom.register_dependency(bom.metadata.component, [component])
    return str(JsonV1Dot6(bom).output_as_string(indent=2))


_ABOUT = """\
# Licences

What Sluice installs, with the licence that each part states of itself. `make sbom` writes this
page, and `build/sbom.json` (CycloneDX) with checksums. Sluice itself is under the Apache License
2.0.

Most are permissive. LGPL parts (psycopg2) are used as separate libraries, unchanged, and can be
exchanged; MPL parts are used unchanged as well; text-unidecode may be used under the Artistic
License. Spark's own jars are inside the package `pyspark`, which lists their licences in its file
`LICENSE`. `known_files.desc` holds the descriptors of files of googleapis-common-protos and
confluent-kafka, which are under the Apache License 2.0.
"""


def page(python: Iterable[Part], java: Iterable[Part]) -> str:
    """docs/licences.md."""
    tables = (("Python packages", python), ("Jars", java))
    return _ABOUT + "".join(
        f"\n## {title}\n\n| name | version | licence |\n|---|---|---|\n{_rows(parts)}"
        for title, parts in tables
    )


def _rows(parts: Iterable[Part]) -> str:
    return "".join(f"| {each.name} | {each.version} | {each.licence} |\n" for each in sorted(parts))


def main() -> None:
    """Write both."""
    python, java = [*packages()], [*jars()]
    text = bill([*python, *java])
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"{BOM}: not valid CycloneDX: {problem}")
    BOM.write_text(text, encoding="utf-8")
    PAGE.write_text(page(python, java), encoding="utf-8")
    silent = [each.name for each in (*python, *java) if each.licence == _UNKNOWN]
    print(f"build/sbom.json, docs/licences.md: {len(python)} packages, {len(java)} jars")
    print(f"without a stated licence: {', '.join(silent) or 'none'}")


if __name__ == "__main__":
    main()
