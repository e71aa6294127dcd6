"""Pipeline names: what pipelines, their tables and topics may be called. Pure."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from sluice.offsets import notation

OUR_DAGS = ("sluice_maintenance", "sluice_reset", "sluice_topics", "sluice_watch")
PIPELINE = r"^[a-z][a-z0-9_]{0,63}$"
TABLE = r"^[a-z][a-z0-9_]{0,127}$"
BESIDE = ("__quarantine", "__offsets", "__state")
"""How the names of the tables end that lie beside a data table."""
TopicName = Annotated[str, Field(pattern=notation.TOPIC)]


def _no_dag_of_ours(name: str) -> str:
    if name in OUR_DAGS:
        raise ValueError("expected another name: Sluice has its own DAG of that name")
    return name


def _no_table_of_ours(table: str) -> str:
    if table.endswith(BESIDE):
        *others, last = BESIDE
        raise ValueError(f"names that end in {', '.join(others)} or {last} are Sluice's own")
    return table


Name = Annotated[str, Field(pattern=PIPELINE), AfterValidator(_no_dag_of_ours)]
TableName = Annotated[str, Field(pattern=TABLE), AfterValidator(_no_table_of_ours)]


def default_group(pipeline: object) -> str:
    """The consumer group of a pipeline whose spec names none."""
    return f"sluice-{pipeline}"
