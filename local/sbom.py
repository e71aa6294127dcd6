"""The bill of materials: build/sbom.json (CycloneDX), and docs/licences.md from the same facts.

Python packages: the lock's names, versions and hashes, with the licences that their metadata
state. Jars: the list of checksums, with coordinates and licences from the POMs that Ivy cached.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from xml.etree import ElementTree

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from local.jar_checksums import LIST, read_list

SBOM, PAGE = Path("build/sbom.json"), Path("docs/licences.md")
LOCK, IVY = Path("requirements.txt"), Path("build/ivy")
_PINNED = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;\\]+)(.*?)(?=^\S|\Z)", re.M | re.S)
_RECIPROCAL = re.compile(r"\b[AL]?GPL|\bMPL|\bEPL|Mozilla|Lesser|Eclipse", re.I)
UNKNOWN = "not stated"


@dataclass(frozen=True)
class Part:
    """A package or jar: `kind` is the purl's type, `hashes` are SHA-256 digests of its files."""

    kind: str
    group: str | None
    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str

    @property
    def component(self) -> Component:
        """The same in CycloneDX's words."""
        purl = PackageURL(self.kind, self.group, self.name, self.version)
        return Component(
            type=ComponentType.LIBRARY,
            group=self.group,
            name=self.name,
            version=self.version,
            purl=purl,
            bom_ref=purl.to_string(),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in self.hashes],
            licenses=[DisjunctiveLicense(name=self.licence)],
        )


def packages(lock: str) -> Iterator[Part]:
    """The packages of a lock with hashes."""
    for name, version, rest in _PINNED.findall(lock):
        hashes = tuple(re.findall(r"sha256:([0-9a-f]{64})", rest))
        yield Part("pypi", None, name, version, hashes, _stated(name))


def _stated(name: str) -> str:
    """What a package's metadata say: the expression, else the classifiers, else the free text."""
    try:
        found = metadata(name)
    except PackageNotFoundError:
        return UNKNOWN
    classifiers = [
        each.split(" :: ")[-1]
        for each in found.get_all("Classifier", [])
        if each.startswith("License :: ") and not each.endswith("OSI Approved")
    ]
    text = (found.get("License") or "").strip().partition("\n")[0]
    return found.get("License-Expression") or ", ".join(classifiers) or text or UNKNOWN


def jars(listed: dict[str, str], cache: Path) -> Iterator[Part]:
    """The jars of the list. One that Ivy has not cached has neither group nor licence."""
    poms = {f"{_module(each)}-{_revision(each)}": each for each in cache.glob("*/*/ivy-*.xml")}
    seen = set()
    for path, checksum in listed.items():
        stem = Path(path).stem
        if stem in seen:
            continue
        seen.add(stem)
        described = poms.get(stem)
        name, _, version = stem.rpartition("-") if described is None else ("", "", "")
        yield Part(
            "maven",
            described.parent.parent.name if described else None,
            _module(described) if described else name,
            _revision(described) if described else version,
            (checksum,),
            _licences(described) if described else UNKNOWN,
        )


def _module(described: Path) -> str:
    return described.parent.name


def _revision(described: Path) -> str:
    return described.stem.removeprefix("ivy-")


def _licences(described: Path) -> str:
    """Ivy has copied a POM's licences, and its parents', into its own file."""
    found = ElementTree.parse(described).iterfind("info/license")
    return ", ".join(dict.fromkeys(each.get("name", UNKNOWN) for each in found)) or UNKNOWN


def document(parts: list[Part]) -> str:
    """The CycloneDX document. Raises ValueError where the schema does not allow it."""
    bom = Bom(components=[each.component for each in parts])
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem is not None:
        raise ValueError(f"{SBOM}: expected a CycloneDX 1.6 document, found {problem}")
    return text


def page(parts: list[Part]) -> str:
    """docs/licences.md."""
    return "\n".join(
        [
            "# Licences",
            "",
            "What Sluice installs, with the licence that each part states of itself. `make sbom`"
            " writes this page, and `build/sbom.json`; a test says when it is stale.",
            "",
            "Sluice is under the Apache License 2.0 and uses these parts unchanged. A part marked"
            " * is under a licence that is not only permissive (GPL, LGPL, MPL, EPL): used as an"
            " installed library it asks nothing of your own code. Whoever passes it on, for"
            " example in an image, passes on its licence and the way to its source as well.",
            "",
            "| part | version | licence |",
            "|---|---|---|",
            *(f"| {_shown(each)} | {each.version} | {each.licence} |" for each in parts),
            "",
        ]
    )


def _shown(part: Part) -> str:
    name = f"{part.group}:{part.name}" if part.group else part.name
    return f"{name} *" if _RECIPROCAL.search(part.licence) else name


def all_parts() -> list[Part]:
    """The packages of the lock, then the jars of the list."""
    return [*packages(LOCK.read_text()), *jars(read_list(LIST.read_text()), IVY)]


def main() -> None:
    """Write both files."""
    parts = all_parts()
    SBOM.write_text(document(parts))
    PAGE.write_text(page(parts))
    print(f"{SBOM}: {len(parts)} components; {PAGE}")


if __name__ == "__main__":
    sys.exit(main())
