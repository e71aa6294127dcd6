"""Advisories: the vulnerabilities that are known of locked parts, and the exceptions from them.

They are kept in advisories.yaml, beside this file, because no registry of packages has them.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from local.audit.versions import Ecosystem, parts

KEPT = Path(__file__).with_name("advisories.yaml")


def _known_form(given: str) -> str:
    parts(given)
    return given


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Advisory(_Strict):
    """One vulnerability: the packages that have it, and their affected versions.

    A package of Maven is `group:artifact`. A version is affected if it is in any of the ranges.
    """

    ids: Annotated[list[str], Field(min_length=1)]
    ecosystem: Ecosystem
    packages: Annotated[list[str], Field(min_length=1)]
    affected: Annotated[list[Annotated[str, AfterValidator(_known_form)]], Field(min_length=1)]
    summary: str
    source: Annotated[str, Field(pattern=r"^https://")]


class Exempt(_Strict):
    """Advisories that are accepted for a part in this version, why, and until when."""

    ids: Annotated[list[str], Field(min_length=1)]
    packages: Annotated[list[str], Field(min_length=1)]
    version: str
    reason: Annotated[str, Field(min_length=20)]
    until: date


class Kept(_Strict):
    """The file: when it was last compared with its sources, and what it holds."""

    looked_at: date
    advisories: list[Advisory]
    exceptions: list[Exempt] = []


def read_kept(text: str) -> Kept:
    """The file's contents. Raises pydantic's ValidationError for anything else."""
    return Kept.model_validate(yaml.safe_load(text))
