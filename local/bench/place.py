"""A place: where a pipeline's tables are, and where its Spark runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from local.embedded.gateway import BUCKET, Gateway


class Warehouse(Protocol):
    """What a pipeline is told of its warehouse, and where its tables are found as files."""

    @property
    def variables(self) -> Mapping[str, str]: ...

    @property
    def files(self) -> Path: ...


@dataclass(frozen=True)
class OnDisk:
    """In the contender's own folder."""

    files: Path

    @property
    def variables(self) -> Mapping[str, str]:
        return {"SLUICE_WAREHOUSE": str(self.files)}


@dataclass(frozen=True)
class InBucket:
    """In a bucket, under a prefix like the contender's own folder."""

    gateway: Gateway
    folder: Path

    @property
    def variables(self) -> Mapping[str, str]:
        return {
            "SLUICE_WAREHOUSE": f"s3a://{BUCKET}/{self._prefix}",
            "AIRFLOW_CONN_SLUICE_WAREHOUSE": self.gateway.connection(),
        }

    @property
    def files(self) -> Path:
        return self.gateway.objects / BUCKET / self._prefix

    @property
    def _prefix(self) -> str:
        return "/".join(self.folder.parts[-2:])


@dataclass(frozen=True)
class Place:
    """The connection `spark_default` (None: not defined), and the warehouse by the folder."""

    spark: str | None = None
    warehouse: Callable[[Path], Warehouse] = OnDisk

    def variables(self, folder: Path) -> dict[str, str]:
        """What a contender with this folder is told by its environment."""
        spark = {"AIRFLOW_CONN_SPARK_DEFAULT": self.spark} if self.spark else {}
        return {**self.warehouse(folder).variables, **spark}


HERE = Place()
