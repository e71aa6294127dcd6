"""Spark message: what an error of Spark's says, in one line."""

from __future__ import annotations

from sluice.tables.error_text import naming_expired_keys


def spark_message(problem: Exception) -> str:
    """The first line that names an error, and the root cause."""
    lines = [line.strip(" \t:") for line in str(problem).splitlines() if line.strip()]
    first = next((line for line in lines if "Exception" in line or "[" in line), repr(problem))
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return naming_expired_keys(" … ".join([first, *causes[-1:]]), str(problem))
