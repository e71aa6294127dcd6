"""Python tasks: a function as a task of the DAG that is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow.sdk import BaseOperator, task


def python_task(body: Callable[..., object], **settings: Any) -> BaseOperator:
    """The operator of a task that calls this function; `settings` are those of a task."""
    made: Any = task(**settings)(body)()
    operator: BaseOperator = made.operator
    return operator
