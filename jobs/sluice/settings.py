"""Settings: the environment, read once, at the edge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from urllib.request import url2pathname

from sluice.errors import SettingsError


@dataclass(frozen=True)
class Settings:
    """Where the tables and the pipeline specs are.

    `warehouse_name` is the name that the warehouse's marker must have, None if it needs no marker;
    `group_prefix` comes before the names of all groups that mirror cursors. Raises SettingsError
    for a warehouse that is neither a path nor in an S3 bucket, and for names with other characters.
    """

    warehouse: str
    pipelines: Path
    warehouse_name: str | None = None
    group_prefix: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "warehouse", _root_of(self.warehouse))
        _require_name("SLUICE_WAREHOUSE_NAME", self.warehouse_name or "")
        _require_name("SLUICE_GROUP_PREFIX", self.group_prefix)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read `SLUICE_WAREHOUSE`, `SLUICE_PIPELINES` and the other settings of all pipelines."""
        return cls(
            warehouse=environment.get("SLUICE_WAREHOUSE") or "./warehouse",
            pipelines=Path(environment.get("SLUICE_PIPELINES") or "dags/pipelines"),
            warehouse_name=environment.get("SLUICE_WAREHOUSE_NAME") or None,
            group_prefix=environment.get("SLUICE_GROUP_PREFIX") or "",
        )


_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):/", re.IGNORECASE)
# What other schemes stand for, and why no warehouse can be there.
_UNTRIED = "no test shows that commits of Spark and delta-rs exclude each other there"
_AZURE = "Azure, for which no server is available that both could be tested against"
_ELSEWHERE = {
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs", "adl", "az"), _AZURE),
    "gs": f"Google Cloud Storage; {_UNTRIED}",
    "hdfs": "HDFS, which delta-rs reaches only with a client that it does not bring",
    "dbfs": "Databricks' own file system, which only its clusters reach",
    "file": "a file URI with a host",
    **dict.fromkeys(("oss", "cos", "cosn", "obs"), f"an object store of its own; {_UNTRIED}"),
}
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
S3_SCHEME = "s3a"


def _root_of(warehouse: str) -> str:
    """A path, that of a `file:` URI, or `s3a://bucket/…`; another URI is refused.

    A URI may hold a key: no error repeats more than its scheme.
    """
    found = _SCHEME.match(warehouse)
    if not found:
        return warehouse
    scheme, place = found[1].lower(), urlsplit(warehouse)
    if scheme == "file" and place.netloc in ("", "localhost"):
        return url2pathname(place.path)
    if scheme in ("s3", S3_SCHEME):
        return _in_bucket(scheme, place)
    why = _ELSEWHERE.get(
        scheme, "no test shows that commits of Spark and delta-rs exclude each other"
    )
    raise SettingsError(
        f"SLUICE_WAREHOUSE: expected a path on this host, or s3a://bucket/…, found {scheme}://…:"
        f" {why}. Use one of these two; docs/object-stores.md says why, and what else helps."
    )


def _in_bucket(scheme: str, place: SplitResult) -> str:
    if not _BUCKET.fullmatch(place.netloc) or place.query or place.fragment:
        raise SettingsError(
            f"SLUICE_WAREHOUSE: expected s3a://bucket/folder, found {scheme}:// with another form."
            " A bucket's name has 3 to 63 of a-z, 0-9, dot and dash. Keys belong in the Airflow"
            " connection sluice_warehouse."
        )
    return f"{S3_SCHEME}://{place.netloc}{place.path.rstrip('/')}"


def _require_name(setting: str, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9._-]{0,64}", name):
        raise SettingsError(
            f"{setting}: expected at most 64 letters, digits, dots, dashes and underscores, found"
            f" {name!r}."
        )


# No ingest runs longer: VACUUM must not delete files that a run has yet to commit.
LONGEST_RUN = timedelta(hours=6)
