"""File sizes: into how many files of which size Delta writes a batch, and compacts a table."""

from __future__ import annotations

from sluice.spec_file.pipeline_spec import PipelineSpec

_DELTA = "spark.databricks.delta"
_UNITS = {"m": 2**20, "g": 2**30}


def files_conf(spec: PipelineSpec) -> dict[str, str]:
    """A session's part of it. A session may be another spec's of before: what is off is said.

    Without an optimised write each task writes a file of its own into each partition. (Delta for
    Spark has no table property for the size: it does not know `delta.targetFileSize`.)
    """
    size = spec.target_file_size
    optimised = bool(spec.partition_by or size)
    found = {f"{_DELTA}.optimizeWrite.enabled": str(optimised).lower()}
    if size is None:
        return found
    least = str(int(size[:-1]) * _UNITS[size[-1]])
    return found | {
        f"{_DELTA}.optimizeWrite.binSize": size,
        f"{_DELTA}.optimize.maxFileSize": least,
        f"{_DELTA}.optimize.minFileSize": least,
    }
